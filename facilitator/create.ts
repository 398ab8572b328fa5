import { and, eq, sql } from "drizzle-orm";
import { type Address, checksum, type Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import { crowd } from "#kernel/crowd";
import { assert, fault } from "#kernel/fault";
import { fixed, type outbox, type Tx, toBytesArray } from "#store";
import type { Chain } from "./chain/port.ts";
import { isTaken } from "./chain/rails.ts";
import type { ChainRow } from "./chain/registry.ts";
import type { ChainFacts, Facilitator, Quote, RailFacts, RefusedRail, Supported } from "./door.ts";
import { discoverPayables } from "./payable/discover.ts";
import { findPayables } from "./payable/find.ts";
import type { Payable } from "./payable/payable.ts";
import { forgetOldPayers, noteOwnWallets } from "./payable/popularity.ts";
import { projectPayable } from "./payable/project.ts";
import { type OfferedRail, optionsOf, preferWorking } from "./payable/requirements.ts";
import { asOf } from "./payable/row.ts";
import { totalsMemory } from "./payable/totals.ts";
import { assess, nothingKnown, readTrust } from "./payable/trust.ts";
import { gasBudgets } from "./settlement/budget/budgets.ts";
import { claimsMade } from "./settlement/budget/made.ts";
import { claimLoader, claimReader, claimWriter, findClaims } from "./settlement/claim/claim.ts";
import { leaveOnce, lockOnce, takeOnce } from "./settlement/claim/hold.ts";
import { transactionReader } from "./settlement/claim/newest-transaction.ts";
import { readPayments } from "./settlement/claim/payments.ts";
import { readmit } from "./settlement/claim/readmit.ts";
import { readArrivals, takeArrivals } from "./settlement/deposit/arrivals.ts";
import { openOrder, resignOrder } from "./settlement/deposit/order.ts";
import { type Engine, namedChain, sellersNow } from "./settlement/engine.ts";
import { hearPayments } from "./settlement/hear.ts";
import { releaseLanes } from "./settlement/lane/lane.ts";
import { boundPayable, lookupPayment } from "./settlement/lookup/lookup.ts";
import { settlementStatus } from "./settlement/lookup/status.ts";
import { chainLoops } from "./settlement/loops/chain-loops.ts";
import { type Loop, loop } from "./settlement/loops/loop.ts";
import { firstRecorded } from "./settlement/observer/followed.ts";
import { releaseObservers } from "./settlement/observer/observer.ts";
import { chainTransfer, observer } from "./settlement/observer/tables.ts";
import { granter, releaseGrant } from "./settlement/settle/grant.ts";
import { type Intake, intake } from "./settlement/settle/intake.ts";
import { answerReader } from "./settlement/settle/places.ts";
import { settle } from "./settlement/settle/settle.ts";
import type { Settling } from "./settlement/settle/settling.ts";
import { type Followers, telling } from "./settlement/settle/told.ts";
import { waiters } from "./settlement/settle/waiters.ts";
import {
  cancelOutgoing,
  isOurAddress,
  outgoingStatus,
  queueOutgoing,
} from "./settlement/treasury/outgoing.ts";
import { authorizationReader } from "./settlement/verify/chain-read.ts";
import { allRails, laneOf } from "./settlement/verify/examine.ts";
import { stateOf } from "./settlement/verify/offer.ts";
import { firstSightMemory, verdictCache } from "./settlement/verify/short-memory.ts";
import { isSignedBy } from "./settlement/verify/signed-text.ts";
import { anyCalls, spareCalls } from "./settlement/verify/spare-calls.ts";
import { type Verifying, verify } from "./settlement/verify/verify.ts";
import { workingChains } from "./settlement/verify/working.ts";

/** The centre with its loops; nothing runs before `start`. */
export interface Running {
  readonly facilitator: Facilitator;
  /** Counts payments for the discovery indexes; to be called with every fact. */
  hear(tx: Tx, facts: readonly outbox.Fact[]): Promise<void>;
  /** Starts answering waits, and the money loops where `engine` has lanes or may watch. */
  start(options: { readonly moneyLoops: boolean }): void;
  /** Settles that are on their way to a claim. What can wait gives way to them. */
  settling(): number;
  /** Waiting settles answer pending, now and from now on; the loops go on. */
  drain(): void;
  /** Loops finish their step, leases are given back. */
  stop(): Promise<void>;
}

/** Longest that a read of the chain waits for those who are about to need it as well. */
const GATHER_MS = 20;

/** Puts the centre together from what it needs. Without followers a success is answered as soon as it is credited. */
export function createFacilitator(engine: Engine, followers?: Followers): Running {
  const waiting = waiters(engine.clock);
  // One for each chain: where a chain answers slowly, payments on the others do not wait.
  const intakes = new Map<string, Intake>();
  const { clock, log, meter, settings } = engine;
  const moneyLoops = [...engine.chains.values()].flatMap((open) => {
    const coming = intake(open.chain.row, engine);
    intakes.set(open.chain.row.network, coming);
    return chainLoops(engine, open, { waiters: waiting, incoming: coming.admitting });
  });
  const answering = loop({ name: "answer", clock, log, meter, everyMs: settings.pollMs }, () =>
    waiting.poll(engine.db.pool),
  );
  const chainsNow = workingChains(engine);
  const wake = () => {
    for (const { name, wake } of moneyLoops) if (name.startsWith("send:")) wake();
  };
  const settling: Settling = {
    ...settlingOf(engine, waiting, chainsNow, wake),
    intakes,
    telling: telling(engine, followers),
  };
  const demandCalls = spareCalls(engine);
  const verifying: Verifying = {
    ...settling,
    reading: { ...settling.reading, demandCalls },
    looking: { ...settling.looking, demandCalls },
    verdicts: verdictCache(clock),
  };
  const running: Loop[] = [];
  return {
    facilitator: doorOf(engine, settling, verifying, chainsNow),
    hear: hearPayments,
    start(options) {
      running.push(answering, ...(options.moneyLoops ? moneyLoops : []));
      for (const each of running) each.start();
    },
    settling: () => [...intakes.values()].reduce((all, { admitting }) => all + admitting(), 0),
    drain: waiting.close,
    async stop() {
      waiting.close();
      await Promise.all(running.map((each) => each.stop()));
      await Promise.all([releaseLanes(engine), releaseObservers(engine)]);
    },
  };
}

function settlingOf(
  engine: Engine,
  waiting: Settling["waiters"],
  chainsNow: ReturnType<typeof workingChains>,
  wake: () => void,
): Omit<Settling, "intakes" | "telling"> {
  const { db, lookupDb, chains, clock } = engine;
  const coming = crowd(clock, GATHER_MS);
  const made = claimsMade(clock);
  const loadClaim = claimLoader(db.pool);
  const readers = new Map(
    [...chains].map(([chainId, { chain, laneAddresses }]) => [
      chainId,
      authorizationReader(chain, laneOf(laneAddresses), coming.gathered),
    ]),
  );
  return {
    engine,
    reading: {
      crowd: coming,
      chains,
      demandCalls: anyCalls,
      findPayable: coalesce({ maxInFlight: 1, maxItems: 200 }, async (targets) =>
        (await findPayables(lookupDb.pool, targets)).map((item) => item && asOf(item, sellersNow(engine))),
      ),
      findClaim: claimReader(lookupDb.pool, made),
      isAsClaimed: async (claimKey, { signature }) => {
        const [claim] = await findClaims(lookupDb.pool, [claimKey]);
        return claim?.signature === signature;
      },
    },
    looking: {
      reader: (chainId) => {
        const reader = readers.get(chainId);
        if (!reader) throw new Error(`no reader for chain ${chainId}`);
        return reader;
      },
      demandCalls: anyCalls,
      isClosed: async (chainId, token) => !(await chainsNow()).taken.get(chainId)?.has(token),
      budgets: gasBudgets(engine, made),
      recordedUse: (chainId, token, claimKey) => recordedUse(engine, { chainId, token, claimKey }),
      loadClaim,
    },
    firstSight: firstSightMemory(clock),
    writeClaim: claimWriter(engine),
    grant: granter(engine),
    loadClaim,
    findAnswers: answerReader(lookupDb.pool),
    newestTransaction: transactionReader(lookupDb.pool),
    waiters: waiting,
    wake,
  };
}

interface Use {
  readonly chainId: number;
  readonly token: Address;
  readonly claimKey: Hash;
}

/** Our observer has recorded every transfer to us since it began with the token; only what it has not reached is asked of the
 *  chain. */
async function recordedUse({ db }: Engine, { chainId, token, claimKey }: Use) {
  const [[log], [at]] = await Promise.all([
    db.pool
      .select({ amount: chainTransfer.amount, payTo: chainTransfer.recipient })
      .from(chainTransfer)
      .where(
        and(
          sql`${chainTransfer.authorizationKey} = ANY(${toBytesArray([claimKey])})`,
          fixed(eq(chainTransfer.canonical, true)),
        ),
      ),
    db.pool.select().from(observer).where(eq(observer.chainId, chainId)),
  ]);
  return {
    paid: log ?? null,
    fromBlock: at ? Math.max(at.finalizedNumber - 1, await firstRecorded(db.pool, at, token)) : 0,
  };
}

function doorOf(
  engine: Engine,
  settling: Settling,
  verifying: Verifying,
  chainsNow: ReturnType<typeof workingChains>,
): Facilitator {
  const rails = () => offeredRails(engine);
  const working = async () => (await chainsNow()).working;
  const totals = totalsMemory(engine.clock);
  const quoteOf = (payable: Payable): Quote => ({ payable, options: optionsOf(payable, rails()) });
  return {
    async quote(target) {
      const payable = await settling.reading.findPayable(target);
      return payable && !payable.closedAt ? quoteOf(payable) : null;
    },
    async offer(target) {
      const payable = await settling.reading.findPayable(target);
      if (!payable) return null;
      const options = preferWorking(optionsOf(payable, rails()), networksOf(engine, await working()));
      const everywhere = optionsOf(payable, goodRails(engine));
      return { payable, options, everywhere, ...(await stateOf(settling, payable)) };
    },
    verify: (request) => verify(verifying, request),
    settle: (request, caller) => settle(settling, request, caller),
    releaseGrant: (paymentId, requestId) => releaseGrant(engine, paymentId, requestId),
    status: (paymentId) => settlementStatus(engine, paymentId),
    lookup: (ref) => lookupPayment(engine, ref),
    boundTo: (signed) => boundPayable(engine, signed),
    async supported(payableId) {
      if (payableId === undefined) return supportedOn(engine, await working(), null);
      const payable = await settling.reading.findPayable({ by: "id", id: payableId });
      if (!payable || payable.closedAt) return null;
      return supportedOn(
        engine,
        await working(),
        new Set(optionsOf(payable, rails()).map(({ network }) => network)),
      );
    },
    rails: () => rails().map(railFacts),
    chains: () => [...engine.chains.values()].map(({ chain }) => chainFacts(chain.row)),
    refusedRails: () => refusedRails(engine),
    async discover(query) {
      const index = { ...engine, now: sellersNow(engine) };
      const { items, total } = await discoverPayables(index, rails(), query, totals);
      return { items: items.map(({ item, trust }) => ({ ...quoteOf(item), trust })), total };
    },
    async trust(payableId) {
      const [known = nothingKnown] = await readTrust(engine.db.pool, [payableId]);
      return known;
    },
    project: projectPayable,
    readmit,
    once: { take: takeOnce, leave: leaveOnce, lock: lockOnce },
    assess,
    noteOwnWallets,
    tidy: () => forgetOldPayers(engine.loopDb),
    hasCode: (slug, account) => hasCode(engine, slug, account),
    isSignedBy: (slug, signed) => isSignedBy(chainOf(engine, slug), signed),
    payments: (by) => readPayments(engine, by),
    deposits: {
      open: (tx, order) => openOrder(engine, tx, order),
      resign: (tx, orderId, expiresAt) => resignOrder(engine, tx, orderId, expiresAt),
      arrivals: (db, subjects) => readArrivals(engine, db, subjects),
      take: (tx, logs) => takeArrivals(engine, tx, logs),
    },
    outgoing: {
      queue: (tx, order) => queueOutgoing(engine, tx, order),
      isOurs: (db, order) => isOurAddress(engine, db, order),
      cancel: cancelOutgoing,
      status: (ids, db = engine.db.pool) => outgoingStatus(db, ids),
    },
  };
}

async function hasCode(engine: Engine, slug: string, account: Address): Promise<boolean> {
  const [answer] = await chainOf(engine, slug).haveCode([account]);
  assert(answer !== undefined, "the chain left an account out");
  return answer;
}

function chainOf({ chains }: Engine, slug: string): Chain {
  const open = namedChain(chains, slug);
  if (!open) throw fault("chain_unavailable", { chain: slug });
  return open.chain;
}

function offeredRails(engine: Engine): readonly OfferedRail[] {
  return [...engine.chains.values()].flatMap(allRails);
}

/** Paused ones too. */
function goodRails({ chains }: Engine): readonly OfferedRail[] {
  return [...chains.values()].flatMap(({ chain, rails }) =>
    rails.filter((rail) => rail.ok).map((rail) => ({ chain: chain.row, rail })),
  );
}

function networksOf({ chains }: Engine, chainIds: ReadonlySet<number>): ReadonlySet<string> {
  const served = [...chains.values()].filter(({ chain }) => chainIds.has(chain.row.chainId));
  return new Set(served.map(({ chain }) => chain.row.network));
}

function refusedRails(engine: Engine): readonly RefusedRail[] {
  return [...engine.chains.values()].flatMap(({ chain: { row }, rails }) =>
    rails.flatMap((rail) => {
      const problem = rail.ok ? rail.paused : rail.problem;
      const { slug: chain, network } = row;
      return problem === null ? [] : [{ chain, network, asset: rail.token.symbol, problem }];
    }),
  );
}

function chainFacts(row: ChainRow): ChainFacts {
  const { slug: chain, network, v1Name, chainId, explorer, depth, blockTimeSeconds } = row;
  const tokens = row.tokens.map(({ symbol, contract, decimals }) => ({
    asset: symbol,
    contract: checksum(contract),
    decimals,
  }));
  return { chain, network, v1Name, chainId, explorer, depth, blockTimeSeconds, tokens };
}

function railFacts({ chain, rail }: OfferedRail): RailFacts {
  return {
    chain: chain.slug,
    network: chain.network,
    v1Name: chain.v1Name,
    explorer: chain.explorer,
    asset: rail.token.symbol,
    contract: checksum(rail.token.contract),
    decimals: rail.token.decimals,
    minimum: chain.dustFloor,
    depth: chain.depth,
    blockTimeSeconds: chain.blockTimeSeconds,
    payTo: checksum(chain.treasury),
    router: chain.router && checksum(chain.router),
    transferMethod: "eip3009",
    domain: { ...rail.domain, verifyingContract: checksum(rail.domain.verifyingContract) },
  };
}

function supportedOn(
  engine: Engine,
  working: ReadonlySet<number>,
  networks: ReadonlySet<string> | null,
): Supported {
  const offered = [...engine.chains.values()].filter(
    ({ chain: { row }, rails }) =>
      working.has(row.chainId) && rails.some(isTaken) && (!networks || networks.has(row.network)),
  );
  return {
    networks: offered.map(({ chain, laneAddresses }) => ({
      network: chain.row.network,
      v1Name: chain.row.v1Name,
      signers: laneAddresses.map(checksum),
    })),
  };
}
