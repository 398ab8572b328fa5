/** One authorization, sent thousands of times at once to all processes. */
import type { Hex } from "#kernel/bytes";
import { runLoad } from "../../bench/load.ts";
import type { Stage } from "./stage.ts";

export interface Duplicates {
  readonly count: number;
  readonly processes: number;
  readonly successes: number;
  /** 409 with the transaction that everybody is told. */
  readonly refused: number;
  readonly pending: number;
  /** Any other answer, and how often. */
  readonly others: ReadonlyMap<string, number>;
  /** That used the nonce: on the chain, and signed for it. */
  readonly transactions: number;
  readonly credits: number;
  /** Sorted, of all answers. */
  readonly latenciesMs: readonly number[];
}

export async function settleManyTimes(stage: Stage, count: number): Promise<Duplicates> {
  const [body = ""] = stage.purse.sign(1, stage.offer);
  const urls = stage.instances.baseUrls();
  const told = new Map<string, number>();
  const note = (what: string) => told.set(what, (told.get(what) ?? 0) + 1);
  const loads = await Promise.all(
    urls.map((baseUrl, i) => {
      const share = Math.floor(count / urls.length) + (i < count % urls.length ? 1 : 0);
      return runLoad({
        baseUrl,
        path: stage.settlePath,
        bodies: Array<string>(share).fill(body),
        concurrency: share,
        seconds: 60,
        judge: (status, text) => {
          const { success, errorReason, transaction } = JSON.parse(text);
          note(success === true ? `success ${transaction}` : `${status} ${errorReason} ${transaction}`);
          return null;
        },
      });
    }),
  );
  const { nonce } = JSON.parse(body).paymentPayload.payload.authorization;
  const rows = await rowsOf(stage, nonce);
  const of = (start: string) =>
    [...told].filter(([what]) => what.startsWith(start)).reduce((sum, [, times]) => sum + times, 0);
  const successes = of("success ");
  const refused = told.get(`409 duplicate_settlement ${rows.transaction}`) ?? 0;
  const pending = of("200 settlement_pending ");
  return {
    count,
    processes: urls.length,
    successes,
    refused,
    pending,
    others: new Map(
      [...told].filter(
        ([what]) =>
          !/^success |^200 settlement_pending /.test(what) &&
          what !== `409 duplicate_settlement ${rows.transaction}`,
      ),
    ),
    transactions: rows.slots,
    credits: rows.credits,
    latenciesMs: loads.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b),
  };
}

async function rowsOf({ database }: Stage, nonce: Hex) {
  const [row] = await database.query<{ transaction: string | null; slots: number; credits: number }>(
    `SELECT '0x' || encode(claim.included_tx, 'hex') AS transaction,
       (SELECT count(*)::int FROM slot_item WHERE slot_item.claim_key = claim.claim_key) AS slots,
       (SELECT count(*)::int FROM ledger_transfer WHERE subject = claim.id AND phase = 'pending' AND leg = 'net') AS credits
     FROM claim WHERE nonce = decode($1, 'hex')`,
    [nonce.slice(2)],
  );
  return row ?? { transaction: null, slots: 0, credits: 0 };
}
