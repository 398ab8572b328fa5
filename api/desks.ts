import { hkdfSync } from "node:crypto";
import { systemRandom } from "#kernel/system";
import type { ClearingDesk } from "./clearing/desk.ts";
import type { ApiDeps } from "./deps.ts";
import { proofKey } from "./documents/proof.ts";
import { eventFamilies } from "./events.ts";
import type { Edge } from "./http/context.ts";
import { limitsOf, memoryCount, noCount } from "./http/limit.ts";
import { createSafeFetch, deliveryLimits } from "./http/safe-fetch.ts";
import { currentOf, revisions } from "./http/version.ts";
import { createWrites } from "./http/writes.ts";
import { createAuthenticator } from "./merchant/authenticate.ts";
import { createOriginBook } from "./merchant/known-origin.ts";
import { noteRequest } from "./merchant/verbs/audit.ts";
import { isLinkFull } from "./payment-link/verbs/places.ts";
import { ExecutionPath } from "./rate/schema.ts";
import type { Pricing } from "./rate/verbs.ts";
import { PING } from "./webhook/events.ts";
import { createSeal } from "./webhook/seal.ts";

/** A new payout address must wait a day. */
const COOLING_MS = 24 * 3_600_000;

export type Desks = ReturnType<typeof openDesks>;

/** What each feature works with, made once of what the house was given. */
export function openDesks({ db, facilitator, config, clock, newId, log, rates, sandbox, ...rest }: ApiDeps) {
  const { masterSecret, allowLocalTargets, version } = config;
  const { loopDb = db } = rest;
  const baseUrl = config.baseUrl.replace(/\/+$/, "");
  const later = config.revisions ?? revisions;
  const isSandbox = config.isSandbox ?? false;
  // Merchants live by a clock that a sandbox can move; what others judge by their own clocks goes by the machine's.
  const merchantClock = sandbox?.clock.clock ?? clock;
  const now = () => merchantClock.now();
  const adapters = [...(rest.providers ?? []), ...(sandbox?.provider ? [sandbox.provider] : [])];
  const providers = new Map(adapters.map((each) => [each.name, each]));
  const clearing = {
    ...{ db, facilitator, rates, baseUrl, isSandbox, newId, now, log },
    isFull: fullness(now),
  };
  const userAgent = `Farebox/${version} (+${baseUrl})`;
  const reach = { allowLocal: allowLocalTargets, userAgent };
  const safeFetch = rest.safeFetch ?? createSafeFetch(reach);
  const deliver = rest.safeFetch ?? createSafeFetch({ ...reach, limits: deliveryLimits });
  const seal = createSeal(masterSecret, systemRandom);
  const families = eventFamilies({ facilitator, baseUrl, now });
  const allTypes = families.flatMap(({ types }) => types);
  const explorerUrl = (of: string, transaction: string) => {
    const served = facilitator.chains().find(({ chain }) => chain === of);
    return served?.explorer ? `${served.explorer}/tx/${transaction}` : null;
  };
  const pricing: Pricing = { rates, facilitator, executionPaths: ExecutionPath.options };
  return {
    ...{ baseUrl, loopDb, later, merchantClock, now, providers, families, safeFetch, clearing, pricing },
    edge: edgeOf({ db, newId, log, config }, { baseUrl, isSandbox, clock: merchantClock, machine: clock }),
    intents: { ...clearing, providers: [...providers.keys()] },
    invoices: { ...clearing, providers: [] as const },
    documents: { facilitator, baseUrl, key: proofKey(masterSecret) },
    keys: { random: systemRandom, masterSecret },
    shop: { facilitator, baseUrl, allowLocalTargets, safeFetch },
    till: { facilitator, coolingMs: isSandbox ? 0 : COOLING_MS },
    post: { seal, allowLocalTargets, allTypes, types: allTypes.filter((type) => type !== PING) },
    telling: { newId, now, apiVersion: currentOf(later) },
    courier: {
      ...{ db: loopDb, fetch: deliver, clock, now, newId, random: systemRandom, seal, log },
      revisions: later,
    },
    mail: rest.mail && { ...rest.mail, db: loopDb, baseUrl, explorerUrl, clock, now, newId, log },
    provider: { db, providers, clock, log, refunds: { facilitator }, keeping: clearing },
  };
}

type House = Pick<ApiDeps, "db" | "newId" | "log" | "config">;
interface Bearings extends Pick<Edge, "baseUrl" | "isSandbox" | "clock"> {
  readonly machine: ApiDeps["clock"];
}

function edgeOf({ db, newId, log, config }: House, { machine, ...bearings }: Bearings): Edge {
  const { masterSecret } = config;
  const { clock, isSandbox } = bearings;
  const count = config.rateLimits === "on" ? memoryCount() : noCount;
  return {
    ...{ db, newId, log, count, ...bearings },
    authenticate: createAuthenticator({ db, clock, log, masterSecret }),
    note: noteRequest,
    isKnownOrigin: createOriginBook({ db, clock, isSandbox }),
    limits: limitsOf(count),
    writes: createWrites(machine),
    cursorKey: new Uint8Array(hkdfSync("sha256", masterSecret, "", "farebox cursors v1", 32)),
    trustedProxyHops: config.trustedProxyHops ?? 0,
  };
}

/** Clearing knows no links, so it is handed their word on whether a place is left. */
export function fullness(now: () => Date): ClearingDesk["isFull"] {
  return (tx, intent) => isLinkFull(tx, now(), intent);
}
