/** Requests at a steady rate, whether or not the ones before were answered: who waits longer is not asked less. */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";

export interface Shot {
  readonly body: string;
  /** What happens right before it is sent. */
  readonly before?: () => Promise<unknown>;
}

export interface Stream {
  readonly url: string;
  readonly shots: readonly Shot[];
  readonly perSecond: number;
}

export interface Told {
  readonly ms: number;
  /** `success`, or why not. */
  readonly outcome: string;
}

const TURN_MS = 10;
const PATIENT_MS = 60_000;

/** Sends every shot once; resolves when all were answered. */
export async function fireSteadily({ url, shots, perSecond }: Stream): Promise<readonly Told[]> {
  const agent = new Agent({ pipelining: 1, headersTimeout: PATIENT_MS, bodyTimeout: PATIENT_MS });
  const began = performance.now();
  const told: Promise<Told>[] = [];
  while (told.length < shots.length) {
    const due = Math.min(shots.length, Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1);
    for (const shot of shots.slice(told.length, due)) told.push(ask(agent, url, shot));
    await sleep(TURN_MS);
  }
  const all = await Promise.all(told);
  await agent.close();
  return all;
}

async function ask(dispatcher: Agent, url: string, { body, before }: Shot): Promise<Told> {
  await before?.();
  const began = performance.now();
  const headers = { "content-type": "application/json" };
  const answer = await request(url, { method: "POST", headers, body, dispatcher });
  const { success, errorReason, code, budget } = (await answer.body.json()) as Record<string, unknown>;
  const outcome =
    success === true ? "success" : [answer.statusCode, errorReason ?? code, budget].filter(Boolean).join(" ");
  return { ms: performance.now() - began, outcome };
}
