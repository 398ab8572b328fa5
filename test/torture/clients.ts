/** Payers' clients: so many new payments a second, each sent again and again until it is told how it ended. */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Hash } from "#kernel/bytes";
import type { Stage } from "./stage.ts";

/** What one client was told, over all its requests. */
export interface Told {
  readonly nonce: Hash;
  /** With an Idempotency-Key the success is told again to whoever repeats it. */
  readonly hasId: boolean;
  readonly isShortLived: boolean;
  successes: number;
  /** Told that it had settled before: the answer that said so was lost on its way. */
  duplicates: number;
  /** Told that it failed, and why. */
  refusal: string | null;
  /** Answers that no client should ever get. */
  readonly wrong: string[];
  requests: number;
  /** From the first request to the last answer. */
  ms: number;
}

export interface Clients {
  readonly told: readonly Told[];
  /** Those that have not been told yet. */
  open(): number;
  /** No new payments from now on. */
  stop(): void;
  /** Resolves when every client was told. */
  readonly done: Promise<void>;
}

const TURN_MS = 50;
/** Before a request is sent again, twice as long each time: whoever is told to come later does not ask thrice a second. */
const AGAIN_MS = { first: 300, most: 5_000 };
/** One in so many signs for a moment only: it may end unpaid. */
const SHORT_LIVED = 50;
const SHORT_LIFE_SECONDS = 20;
const LONG_LIFE_SECONDS = 3_600;

export function startClients(stage: Stage, perSecond: number): Clients {
  const agent = new Agent({
    pipelining: 1,
    headersTimeout: 40_000,
    bodyTimeout: 40_000,
    connect: { timeout: 2_000 },
  });
  const told: Told[] = [];
  let open = 0;
  let isStopping = false;

  async function send(): Promise<void> {
    const began = performance.now();
    const work: Promise<void>[] = [];
    while (!isStopping) {
      const due = Math.floor(((performance.now() - began) / 1_000) * perSecond) - told.length;
      for (let i = 0; i < due; i += 1) {
        const one = newPayment(stage, told.length);
        told.push(one.told);
        open += 1;
        work.push(
          insist(stage, agent, one).finally(() => {
            open -= 1;
          }),
        );
      }
      await sleep(TURN_MS);
    }
    await Promise.all(work);
    await agent.close();
  }

  return {
    told,
    open: () => open,
    stop: () => {
      isStopping = true;
    },
    done: send(),
  };
}

interface Payment {
  readonly body: string;
  readonly told: Told;
}

function newPayment({ purse, offer }: Stage, index: number): Payment {
  const isShortLived = index % SHORT_LIVED === SHORT_LIVED - 1;
  const [body = ""] = purse.sign(1, offer, isShortLived ? SHORT_LIFE_SECONDS : LONG_LIFE_SECONDS);
  const { nonce } = JSON.parse(body).paymentPayload.payload.authorization;
  const start = { successes: 0, duplicates: 0, refusal: null, wrong: [], requests: 0, ms: 0 };
  return { body, told: { nonce, hasId: index % 2 === 0, isShortLived, ...start } };
}

/** The identical request, to whichever process is up, until the answer is neither an error nor "not known yet". */
async function insist(stage: Stage, agent: Agent, { body, told }: Payment): Promise<void> {
  const began = performance.now();
  let againMs = AGAIN_MS.first;
  const headers = {
    "content-type": "application/json",
    ...(told.hasId ? { "idempotency-key": `torture of ${told.nonce}` } : {}),
  };
  for (;;) {
    const urls = stage.instances.baseUrls();
    const url = urls[Math.floor(Math.random() * urls.length)];
    told.requests += url ? 1 : 0;
    const answer = url ? await ask(agent, `${url}${stage.settlePath}`, { headers, body }) : null;
    if (answer && note(told, answer)) break;
    await sleep(againMs * (0.5 + Math.random()));
    againMs = Math.min(againMs * 2, AGAIN_MS.most);
  }
  told.ms = performance.now() - began;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly success?: boolean; readonly errorReason?: string };
}

/** Null when there was none. */
async function ask(
  dispatcher: Agent,
  url: string,
  { headers, body }: { readonly headers: Record<string, string>; readonly body: string },
): Promise<Answer | null> {
  try {
    const answer = await request(url, { method: "POST", headers, body, dispatcher });
    return { status: answer.statusCode, body: (await answer.body.json()) as Answer["body"] };
  } catch {
    return null;
  }
}

/** Whether that was the last word. */
function note(told: Told, { status, body }: Answer): boolean {
  if (status === 200 && body.success === true) told.successes += 1;
  else if (status === 409 && body.errorReason === "duplicate_settlement") told.duplicates += 1;
  else if (body.errorReason === "settlement_pending" || status === 503) return false;
  else if (status === 200 && body.success === false) told.refusal = body.errorReason ?? "no reason";
  else told.wrong.push(`${status} ${body.errorReason ?? ""}`);
  return true;
}
