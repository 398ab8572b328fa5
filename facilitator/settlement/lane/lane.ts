import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { post, templates } from "#ledger";
import { fixed, type Tx, toBytesArray } from "#store";
import type { Chain, Signer } from "../../chain/port.ts";
import { coinOf } from "../coin.ts";
import type { Engine } from "../engine.ts";
import { isOver } from "../lease.ts";
import { signer as signerTable } from "./tables.ts";

/** A gas key on one chain that this process holds: only under this fence may it take nonces. */
export interface Lane {
  readonly chain: Chain;
  readonly signer: Signer;
  readonly fence: number;
  /** False while it is quarantined: what was sent is looked after, nothing more is signed. */
  readonly maySign: boolean;
}

/** Takes or renews the lease of a lane, by the database's clock; null while another process holds it. At the first
 *  adoption the nonce comes from the chain, once and for ever; the key's gas enters the books then. Faults:
 *  `chain_unavailable`. */
export async function lease(engine: Engine, chain: Chain, signer: Signer): Promise<Lane | null> {
  const { chainId } = chain.row;
  await engine.presence?.show();
  const renewed = await take(engine, chainId, signer.address);
  if (renewed !== "unknown") return renewed === null ? null : lane(engine, chain, signer, renewed);
  await adopt(engine, chain, signer);
  const taken = await take(engine, chainId, signer.address);
  return taken === null || taken === "unknown" ? null : lane(engine, chain, signer, taken);
}

/** Whether one of these lanes, which others held when they were last asked for, may be taken now; one read, and no lock. */
export async function isAnyFree(engine: Engine, chain: Chain, signers: readonly Signer[]): Promise<boolean> {
  const addresses = toBytesArray(signers.map(({ address }) => address));
  const free = await engine.loopDb.pool
    .select({ address: signerTable.address })
    .from(signerTable)
    .where(
      and(
        eq(signerTable.chainId, chain.row.chainId),
        sql`${signerTable.address} = ANY(${addresses})`,
        isOver(engine, signerTable.leaseHolder, signerTable.leaseUntil),
      ),
    );
  return free.length > 0;
}

/** Gives a lease back before it lapses. */
export async function letGo(engine: Engine, { chain, signer }: Lane): Promise<void> {
  await engine.loopDb.pool
    .update(signerTable)
    .set({ leaseUntil: null })
    .where(
      and(
        eq(signerTable.chainId, chain.row.chainId),
        eq(signerTable.address, signer.address),
        eq(signerTable.leaseHolder, engine.holder),
      ),
    );
}

interface Taken {
  readonly fence: number;
  readonly nextNonce: number;
  readonly isNew: boolean;
  readonly maySign: boolean;
}

async function take(engine: Engine, chainId: number, address: Address): Promise<Taken | null | "unknown"> {
  const { holder, settings } = engine;
  return engine.loopDb.tx(async (tx) => {
    const isLane = and(eq(signerTable.chainId, chainId), eq(signerTable.address, address));
    const over = isOver(engine, signerTable.leaseHolder, signerTable.leaseUntil).mapWith(Boolean);
    const [found] = await tx
      .select({ row: getTableColumns(signerTable), isOver: over })
      .from(signerTable)
      .where(isLane)
      .for("update");
    if (!found) return "unknown";
    const { row } = found;
    const isMine = row.leaseHolder === holder && !found.isOver;
    if (!isMine && !found.isOver) return null;
    const fence = isMine ? row.fence : row.fence + 1;
    await tx
      .update(signerTable)
      .set({
        leaseHolder: holder,
        fence,
        leaseUntil: sql`now() + make_interval(secs => ${settings.leaseSeconds})`,
      })
      .where(isLane);
    return { fence, nextNonce: row.nextNonce, isNew: !isMine, maySign: row.state === "active" };
  });
}

async function lane(engine: Engine, chain: Chain, signer: Signer, taken: Taken): Promise<Lane> {
  const { fence, maySign } = taken;
  const found = { chain, signer, fence, maySign };
  if (!taken.isNew) return found;
  engine.log.info({ chain: chain.row.slug, lane: signer.address, fence }, "lane taken");
  const used = await chain.nonce(signer.address, "latest");
  return used > taken.nextNonce ? quarantine(engine, found) : found;
}

/** Somebody else used our key: nothing more is signed with it until a person has looked. */
export async function quarantine(engine: Engine, foreign: Lane): Promise<Lane> {
  const { chain, signer } = foreign;
  const quarantined = { ...foreign, maySign: false };
  if (!foreign.maySign) return quarantined;
  const { address } = signer;
  await engine.loopDb.pool
    .update(signerTable)
    .set({ state: "quarantined" })
    .where(and(eq(signerTable.chainId, chain.row.chainId), eq(signerTable.address, address)));
  engine.log.error(
    { chain: chain.row.slug, lane: address },
    "foreign use of a gas key: the lane is quarantined; rotate the key, or, where you know who used it, farebox lanes resume",
  );
  return quarantined;
}

async function adopt(engine: Engine, chain: Chain, signer: Signer): Promise<void> {
  const { slug, chainId } = chain.row;
  const [nextNonce, wei] = await Promise.all([
    chain.nonce(signer.address, "latest"),
    chain.nativeBalance(signer.address, "latest"),
  ]);
  await engine.loopDb.tx(async (tx) => {
    const adopted = await tx
      .insert(signerTable)
      .values({ chainId, address: signer.address, nextNonce })
      .onConflictDoNothing()
      .returning({ address: signerTable.address });
    // Another process was faster, and may have spent some of its gas since.
    if (adopted.length === 0) return;
    await post(tx, [
      templates.gasFunded({ chain: slug, signer: signer.address, asset: coinOf(chain.row), wei }),
    ]);
  });
}

/** Advances the lane's nonce from `nonce`, inside the transaction that stores what the nonce is used for. False when
 *  the lease was lost or the nonce is taken: then nothing of that transaction may commit. */
export async function takeNonce(tx: Tx, { chain, signer, fence }: Lane, nonce: number): Promise<boolean> {
  const advanced = await tx
    .update(signerTable)
    .set({ nextNonce: nonce + 1 })
    .where(
      and(
        eq(signerTable.chainId, chain.row.chainId),
        eq(signerTable.address, signer.address),
        eq(signerTable.nextNonce, nonce),
        eq(signerTable.fence, fence),
        fixed(eq(signerTable.state, "active")),
      ),
    )
    .returning({ nonce: signerTable.nextNonce });
  return advanced.length === 1;
}

export async function nextNonce(engine: Engine, { chain, signer }: Lane): Promise<number> {
  const [row] = await engine.loopDb.pool
    .select({ nextNonce: signerTable.nextNonce })
    .from(signerTable)
    .where(and(eq(signerTable.chainId, chain.row.chainId), eq(signerTable.address, signer.address)));
  if (!row) throw new Error("a lane that we hold has no row");
  return row.nextNonce;
}

/** Gives all lanes of this process back, so that another need not wait for the leases to lapse. */
export async function releaseLanes(engine: Engine): Promise<void> {
  await engine.loopDb.pool
    .update(signerTable)
    .set({ leaseHolder: null, leaseUntil: null })
    .where(eq(signerTable.leaseHolder, engine.holder));
}
