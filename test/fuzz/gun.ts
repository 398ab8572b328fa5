/** Fires shots at a server and keeps the tally. */
import { performance } from "node:perf_hooks";
import fc from "fast-check";
import { errors, Pool } from "undici";
import { KnownIds } from "./ids.ts";
import { type Answer, fault } from "./judge.ts";
import type { Shot } from "./shot.ts";

export interface Found {
  readonly route: string;
  readonly wrong: string;
  readonly status: number;
  readonly shot: string;
  readonly answer: string;
}

export interface RouteTally {
  /** How often, by status. */
  readonly statuses: Map<string, number>;
  /** All answers together, and the slowest. */
  ms: number;
  slowestMs: number;
}

export interface Tally {
  readonly requests: number;
  readonly seconds: number;
  readonly routes: ReadonlyMap<string, RouteTally>;
  readonly found: readonly Found[];
}

export interface Volley {
  readonly baseUrl: string;
  readonly shots: ReadonlyMap<string, fc.Arbitrary<Shot>>;
  readonly seed: number;
  readonly requests: number;
  readonly seconds: number;
  readonly concurrency: number;
  /** Ids that must not be used: those of the fuzz's own keys. */
  readonly spared: ReadonlySet<string>;
  /** Told how many were fired, with each. */
  readonly told?: (fired: number) => void;
}

const perRound = 25;
const patientMs = 60_000;
const answerBytes = 65_536;

/** All routes in turn, so many shots of each; the same seed makes the same shots. Answers give the ids of later ones. */
export async function fire(volley: Volley): Promise<Tally> {
  const { baseUrl, shots, seed, requests, seconds, concurrency, spared, told } = volley;
  const pool = new Pool(baseUrl, {
    connections: concurrency,
    headersTimeout: patientMs,
    bodyTimeout: patientMs,
  });
  const routes = new Map<string, RouteTally>();
  const found: Found[] = [];
  const ids = new KnownIds(spared);
  const began = performance.now();
  const isOver = () => performance.now() - began > seconds * 1_000;
  let fired = 0;

  function note(shot: Shot, status: string, since: number): void {
    const ms = performance.now() - since;
    const tally = routes.get(shot.route) ?? { statuses: new Map<string, number>(), ms: 0, slowestMs: 0 };
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
    tally.ms += ms;
    tally.slowestMs = Math.max(tally.slowestMs, ms);
    routes.set(shot.route, tally);
  }
  async function one(shot: Shot): Promise<void> {
    fired += 1;
    told?.(fired);
    const since = performance.now();
    const path = ids.fill(shot.path);
    const body = typeof shot.body === "string" ? ids.fill(shot.body) : shot.body;
    try {
      const answer = await ask(pool, { ...shot, path, body });
      note(shot, String(answer.status), since);
      const wrong = fault(shot, answer);
      if (wrong !== null) found.push(finding({ ...shot, path, body }, answer, wrong));
      else if (answer.status < 300) ids.learn(answer.text);
    } catch (error) {
      note(shot, error instanceof errors.InvalidArgumentError ? "not sendable" : "no answer", since);
      if (error instanceof errors.InvalidArgumentError) return;
      const answer = { status: 0, type: "", text: String(error) };
      found.push(finding({ ...shot, path, body }, answer, "no answer"));
    }
  }

  function* inTurn(): Generator<Shot, void> {
    for (let round = 0; ; round += 1) {
      const queue = [...shots].flatMap(([, shotsOfRoute], i) =>
        fc.sample(shotsOfRoute, { numRuns: perRound, seed: seed + round * 1_000 + i }),
      );
      yield* shuffled(queue, seed + round);
    }
  }
  const next = inTurn();
  const worker = async () => {
    for (const shot of next) {
      if (fired >= requests || isOver()) return;
      await one(shot);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.destroy();
  return { requests: fired, seconds: (performance.now() - began) / 1_000, routes, found };
}

/** The answer's beginning; a stream is let go once it has begun. */
async function ask(pool: Pool, { method, path, headers, body }: Shot): Promise<Answer> {
  const response = await pool.request({
    method: method as "GET",
    path: path.startsWith("/") ? path : `/${path}`,
    headers: [...headers],
    body,
  });
  const type = String(response.headers["content-type"] ?? "");
  if (type.startsWith("text/event-stream")) {
    response.body.on("error", () => {}).destroy();
    return { status: response.statusCode, type, text: "" };
  }
  const text = (await response.body.text()).slice(0, answerBytes);
  return { status: response.statusCode, type, text };
}

function finding(shot: Shot, { status, text }: Answer, wrong: string): Found {
  const body = shot.body === null ? "" : ` ${shot.body.toString("utf8").slice(0, 2_000)}`;
  const told = `${shot.method} ${shot.path} ${JSON.stringify(shot.headers)}${body}`;
  return { route: shot.route, wrong, status, shot: told, answer: text.slice(0, 600) };
}

/** Another order for each seed, and the same for the same. */
function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  let state = seed >>> 0 || 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
