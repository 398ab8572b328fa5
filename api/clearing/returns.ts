import { and, eq } from "drizzle-orm";
import type { OutgoingStatus } from "#facilitator";
import { type Address, address } from "#kernel/bytes";
import { insertMany, outbox, type Tx } from "#store";
import type { Seen } from "./deposits.ts";
import type { ClearingDesk } from "./desk.ts";
import { type DepositRow, lyingOf, type ReturnRow } from "./money.ts";
import { clearingReturn } from "./tables.ts";
import type { Held } from "./timeline.ts";

/** Where returns stand that are on their way, by their ids. */
export type Returned = ReadonlyMap<string, OutgoingStatus>;

const TRIES = 5;
/** Below one dollar or euro an excess waits to be asked for. */
const LEAST_EXCESS = 1_000_000n;

export interface NewReturn {
  readonly deposit: DepositRow;
  readonly source: ReturnRow["source"];
  readonly amount: bigint;
  readonly destination: Address;
  readonly note?: string | undefined;
}

/** Writes down that money goes back; it leaves once its deposit is final. */
export async function decideReturns(
  tx: Tx,
  { newId, now }: Pick<ClearingDesk, "newId" | "now">,
  wanted: readonly NewReturn[],
): Promise<readonly ReturnRow[]> {
  const at = now();
  const rows = wanted.map(({ deposit, source, amount, destination, note }) => ({
    merchantId: deposit.merchantId,
    clearingId: deposit.clearingId,
    id: newId("ret"),
    depositId: deposit.id,
    chain: deposit.chain,
    asset: deposit.asset,
    ...{ source, amount, destination },
    state: "decided" as const,
    note: note ?? null,
    createdAt: at,
    updatedAt: at,
  }));
  if (rows.length > 0) await tx.execute(insertMany(clearingReturn, rows));
  return rows;
}

/** Takes each return one step on: hands it to the lanes, or sees how it ended. One that ended unsent is tried anew. */
export async function followReturns(
  tx: Tx,
  desk: ClearingDesk,
  returns: readonly ReturnRow[],
  { seen, returned }: { readonly seen: readonly Seen[]; readonly returned: Returned },
): Promise<readonly ReturnRow[]> {
  const after: ReturnRow[] = [];
  for (const row of returns) {
    const deposit = seen.find((each) => each.row.id === row.depositId);
    if (row.state === "decided") after.push(await send(tx, desk, row, deposit));
    else if (row.state === "sending")
      after.push(...(await end(tx, desk, row, { deposit, returns, returned })));
    else after.push(row);
  }
  return after;
}

/** Ends what was decided of deposits whose block left the chain and was not handed on: when the money is back it is decided
 *  anew, from where it lies then. */
export async function dropReturns(
  tx: Tx,
  desk: Pick<ClearingDesk, "now">,
  returns: readonly ReturnRow[],
  fallen: readonly DepositRow[],
): Promise<readonly ReturnRow[]> {
  const after: ReturnRow[] = [];
  for (const row of returns) {
    const isFallen = fallen.some(({ id }) => id === row.depositId);
    after.push(row.state === "decided" && isFallen ? await set(tx, desk, row, "failed") : row);
  }
  return after;
}

/** Money whose block may still leave the chain must not leave us. */
async function send(
  tx: Tx,
  desk: ClearingDesk,
  row: ReturnRow,
  deposit: Seen | undefined,
): Promise<ReturnRow> {
  if (!deposit?.isCanonical || !deposit.row.isBooked) return set(tx, desk, row, "failed");
  if (!deposit.row.isFinal) return row;
  const served = desk.facilitator.chains().find(({ chain }) => chain === row.chain);
  const token = served?.tokens.find(({ asset }) => asset === row.asset);
  if (!served || !token) return row;
  // Of a paused token it waits in the queue, which knows when that is taken again.
  await desk.facilitator.outgoing.queue(tx, {
    id: row.id,
    kind: "return",
    merchantId: row.merchantId,
    chainId: served.chainId,
    token: address(token.contract),
    recipient: row.destination,
    amount: row.amount,
    source: row.source,
    subject: row.clearingId,
  });
  return set(tx, desk, row, "sending");
}

async function end(
  tx: Tx,
  desk: ClearingDesk,
  row: ReturnRow,
  {
    deposit,
    returns,
    returned,
  }: {
    readonly deposit: Seen | undefined;
    readonly returns: readonly ReturnRow[];
    readonly returned: Returned;
  },
): Promise<readonly ReturnRow[]> {
  const { state, transaction = null } = returned.get(row.id) ?? {};
  if (state === "final") return [await sent(tx, desk, row, transaction)];
  if (state !== "failed" && state !== "cancelled") return [row];
  const failed = await set(tx, desk, row, "failed");
  const tries = returns.filter(
    ({ depositId, source }) => depositId === row.depositId && source === row.source,
  ).length;
  if (!deposit || tries >= TRIES) {
    desk.log.error(
      { clearing: row.clearingId, return: row.id },
      "a return could not be sent; a person must look",
    );
    return [failed];
  }
  return [
    failed,
    ...(await decideReturns(tx, desk, [{ ...row, note: row.note ?? undefined, deposit: deposit.row }])),
  ];
}

async function sent(
  tx: Tx,
  desk: ClearingDesk,
  row: ReturnRow,
  transaction: OutgoingStatus["transaction"],
): Promise<ReturnRow> {
  const { merchantId, clearingId, id } = row;
  const payload = { clearingId, transaction };
  await outbox.append(tx, [{ id: desk.newId("evt"), type: "return.sent", subject: id, merchantId, payload }]);
  return set(tx, desk, row, "sent");
}

async function set(
  tx: Tx,
  { now }: Pick<ClearingDesk, "now">,
  row: ReturnRow,
  state: ReturnRow["state"],
): Promise<ReturnRow> {
  const { merchantId, clearingId, id } = clearingReturn;
  await tx
    .update(clearingReturn)
    .set({ state, updatedAt: now() })
    .where(and(eq(merchantId, row.merchantId), eq(clearingId, row.clearingId), eq(id, row.id)));
  return { ...row, state };
}

/** What came beyond what was due goes back by itself where its sender is who the payer said to be. Never income. Source:
 *  merchant-api.md §1.4. */
export async function returnExcess(
  tx: Tx,
  desk: ClearingDesk,
  { intent, clearing }: Held,
  { seen, returns }: { readonly seen: readonly Seen[]; readonly returns: readonly ReturnRow[] },
): Promise<readonly ReturnRow[]> {
  if (clearing.state !== "settled" || !intent.payerDeclared) return returns;
  const wanted = seen.flatMap(({ row }) => {
    const amount = lyingOf(row, returns).overpayment;
    const isProven = row.isFinal && row.sender === intent.payerAddress;
    return isProven && amount >= LEAST_EXCESS
      ? [{ deposit: row, source: "overpayment" as const, amount, destination: row.sender }]
      : [];
  });
  return [...returns, ...(await decideReturns(tx, desk, wanted))];
}
