/** The sandbox provider over HTTP: an outside company of the local deployment, with an API of its own. */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { z } from "zod";
import {
  type Book,
  isSettleable,
  next,
  outcomes,
  type ProviderClearing,
  type ProviderRefund,
  paid,
} from "./book.ts";
import type { Callbacks } from "./callbacks.ts";

export interface ProviderServer {
  readonly book: Book;
  readonly callbacks: Callbacks;
  /** What the customer sends as a bearer token. */
  readonly apiKey: string;
  /** Between two things that happen by themselves. */
  readonly paceMs: number;
}

const units = z.string().regex(/^[1-9]\d{0,38}$/);
const name = z.string().min(1).max(255);
const NewClearing = z.object({ reference: name, asset: name, amount: units, outcome: z.enum(outcomes) });
const NewRefund = z.object({ reference: name, amount: units });
const MAX_BODY = 65_536;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
type Handler = (id: string, body: unknown) => Promise<unknown>;

/** Not listening yet. What was on its way when the last process ended goes on. */
export function providerServer(options: ProviderServer): Server {
  const { book } = options;
  const moves = movesOf(options);
  for (const { id } of book.clearings.values()) moves.later(() => moves.clearing(id));
  for (const { id } of book.refunds.values()) moves.later(() => moves.refund(id));
  const routes = routesOf(options, moves);
  return createServer((request, response) => {
    answer(request, routes, options.apiKey)
      .catch((error: unknown) => {
        if (error instanceof Refusal) return { status: error.status, body: { error: error.message } };
        if (error instanceof z.ZodError) return { status: 400, body: { error: "malformed" } };
        return { status: 500, body: { error: String(error) } };
      })
      .then(({ status, body }) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(body));
      });
  });
}

interface Moves {
  later(work: () => Promise<void>): void;
  change(clearing: ProviderClearing): Promise<ProviderClearing>;
  clearing(id: string): Promise<void>;
  refund(id: string): Promise<void>;
}

/** What happens by itself, a pace after what came before it. */
function movesOf({ book, callbacks, paceMs }: ProviderServer): Moves {
  const moves: Moves = {
    later: (work) => void setTimeout(() => void work(), paceMs).unref(),
    async change(clearing) {
      book.clearings.set(clearing.id, clearing);
      await book.save();
      callbacks.tell("clearing.updated", clearing);
      moves.later(() => moves.clearing(clearing.id));
      return clearing;
    },
    async clearing(id) {
      const known = book.clearings.get(id);
      const changed = known && next(known);
      if (changed) await moves.change(changed);
    },
    async refund(id) {
      const known = book.refunds.get(id);
      if (known?.state !== "pending") return;
      book.refunds.set(id, { ...known, state: "succeeded" });
      await book.save();
      callbacks.tell("refund.updated", known);
    },
  };
  return moves;
}

function routesOf({ book }: ProviderServer, moves: Moves): Readonly<Record<string, Handler>> {
  const found = (id: string) => {
    const clearing = book.clearings.get(id);
    if (!clearing) throw new Refusal(404, "no such clearing");
    return clearing;
  };
  return {
    "GET /health": async () => ({ ok: true }),
    async "POST /clearings"(_, body) {
      const { reference, asset, amount, outcome } = NewClearing.parse(body);
      const known = [...book.clearings.values()].find((each) => each.reference === reference);
      if (known) return known;
      const id = `sbx_${randomUUID()}` as const;
      const state = "awaiting-funds" as const;
      return moves.change({ id, reference, asset, amount, received: "0", state, failure: null, outcome });
    },
    "GET /clearings/{id}": async (id) => found(id),
    /** The payer's side, for tests and demonstrations. */
    async "POST /clearings/{id}/pay"(id) {
      const clearing = found(id);
      if (clearing.state !== "awaiting-funds") throw new Refusal(409, `it is ${clearing.state}`);
      return moves.change(paid(clearing));
    },
    async "POST /clearings/{id}/close"(id) {
      const clearing = found(id);
      return clearing.state === "awaiting-funds" ? moves.change({ ...clearing, state: "closed" }) : clearing;
    },
    async "POST /clearings/{id}/settle"(id) {
      const clearing = found(id);
      return isSettleable(clearing)
        ? moves.change({ ...clearing, state: "settling", failure: null })
        : clearing;
    },
    async "POST /clearings/{id}/refunds"(id, body) {
      return refundOf(found(id), NewRefund.parse(body));
    },
    async "GET /refunds/{id}"(id) {
      const refund = book.refunds.get(id);
      if (!refund) throw new Refusal(404, "no such refund");
      return refund;
    },
  };

  async function refundOf(clearing: ProviderClearing, asked: z.infer<typeof NewRefund>) {
    const earlier = [...book.refunds.values()].filter((each) => each.clearing === clearing.id);
    const known = earlier.find(({ reference }) => reference === asked.reference);
    if (known) return known;
    const refunded = earlier.reduce((total, { amount }) => total + BigInt(amount), 0n);
    if (refunded + BigInt(asked.amount) > BigInt(clearing.received))
      throw new Refusal(409, "more than was received");
    const id = `sbr_${randomUUID()}` as const;
    const refund: ProviderRefund = { id, clearing: clearing.id, state: "pending", ...asked };
    book.refunds.set(id, refund);
    await book.save();
    moves.later(() => moves.refund(id));
    return refund;
  }
}

async function answer(
  request: IncomingMessage,
  routes: Readonly<Record<string, Handler>>,
  apiKey: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  if (!isKey(request.headers.authorization, apiKey))
    throw new Refusal(401, "the API key is missing or wrong");
  const [, noun = "", id = "", verb] = (request.url ?? "").split("/");
  const template = [noun, id && "{id}", verb].filter(Boolean).join("/");
  const handler = routes[`${request.method} /${template}`];
  if (!handler) throw new Refusal(404, "no such path");
  return { status: 200, body: await handler(id, await readJson(request)) };
}

function isKey(header: string | undefined, apiKey: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ""), Buffer.from(`Bearer ${apiKey}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Refusal(413, "too large");
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new Refusal(400, "not JSON");
  }
}
