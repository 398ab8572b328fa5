/** A merchant with a key, and calls with it on an app that listens nowhere. */
import { createKey, createMerchant, type KeyInput } from "#api";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import type { Database } from "#store";
import { clock, type world } from "./world.ts";

type App = ReturnType<typeof world>["app"];
export interface Caller {
  readonly merchantId: string;
  readonly keyId: string;
  readonly key: string;
}
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer off the wire, compared whole by the tests
  readonly body: any;
}
interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Where it comes from; without one there is no socket. */
  readonly address?: string;
}

const newId = idMaker({ clock: systemClock, random: systemRandom });
export const masterSecret = "a master secret for tests";
export const operatorOf = (db: Database, time = clock) => ({
  db,
  clock: time,
  newId,
  random: systemRandom,
  masterSecret,
});

export async function newMerchantId(db: Database): Promise<string> {
  const { id } = await createMerchant(operatorOf(db), { name: "Shop", city: "Oslo", countryCode: "NO" });
  return id;
}

/** A new key, of a new merchant unless one is named. */
export async function newCaller(db: Database, key: Partial<KeyInput> = {}): Promise<Caller> {
  const merchantId = key.merchantId ?? (await newMerchantId(db));
  const made = await createKey(operatorOf(db), { kind: "sk", name: "test", ...key, merchantId });
  return { merchantId, keyId: made.keyId, key: made.plaintext };
}

export function caller(app: App, { key }: Pick<Caller, "key">) {
  return async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const { headers = {}, body, address } = options;
    const init = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    };
    return read(
      await app.request(path, init, address === undefined ? undefined : from(address, init.headers)),
    );
  };
}

/** The same, each write under a key of its own; `must` fails where the answer refuses. */
export function writer(app: App, from: Pick<Caller, "key">) {
  const ask = caller(app, from);
  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    ask(method, path, { body, headers: method === "GET" ? {} : { "idempotency-key": crypto.randomUUID() } });
  const must = async (method: string, path: string, body?: unknown): Promise<Answer["body"]> => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  return { call, must };
}

export type Writer = ReturnType<typeof writer>;

/** What Node hands over with a request. */
export function from(address: string, headers: Readonly<Record<string, string>> = {}) {
  return { incoming: { rawHeaders: Object.entries(headers).flat(), socket: { remoteAddress: address } } };
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : null,
  };
}
