/** At rest: the rows against each other, and against the chain as it became final. */

import type { Address } from "#kernel/bytes";
import { treasury } from "../parts/keys.ts";
import { branchOf } from "../parts/node.ts";
import type { Life } from "../seed.ts";
import { isRefusal } from "./answers.ts";
import { Violation } from "./violation.ts";

interface ClaimRow extends Record<string, unknown> {
  readonly key: string;
  readonly state: string;
  readonly credit_state: string;
  readonly credit_epoch: number;
  readonly payable_id: string;
  readonly payer: string;
  readonly nonce: string;
  readonly amount: string;
  readonly fee: string;
  readonly included_tx: string | null;
  readonly attempts: number;
  readonly slots: number;
  readonly live: string;
}

export async function checkRows(life: Life): Promise<void> {
  const { backend, row } = life.ground;
  const claims = await backend.look<ClaimRow>(
    `WITH live AS (
       SELECT split_part(event_key, ':', 2) AS key, sum(CASE phase WHEN 'void' THEN -amount WHEN 'post' THEN 0 ELSE amount END) AS amount
       FROM ledger_transfer WHERE asset = $2 AND event_key LIKE 'x402:%' GROUP BY 1)
     SELECT '0x' || encode(claim_key, 'hex') AS key, state, credit_state, credit_epoch, payable_id, '0x' || encode(payer, 'hex') AS payer,
       '0x' || encode(nonce, 'hex') AS nonce, claim.amount, fee, '0x' || encode(included_tx, 'hex') AS included_tx, attempts,
       (SELECT count(*)::int FROM slot_item WHERE slot_item.claim_key = claim.claim_key) AS slots, coalesce(live.amount, 0) AS live
     FROM claim LEFT JOIN live ON live.key = '0x' || encode(claim_key, 'hex') WHERE chain_id = $1`,
    [row.chainId, `USDC@${row.slug}`],
  );
  checkCredits(life, claims);
  checkTold(life, claims);
  checkGrants(life);
  await checkBooks(life, claims);
  await checkReversals(life);
  await checkStanding(life);
  await checkFacts(life, claims);
}

/** Authorizations that the final chain executed, each with what it moved to us. */
function paidOnChain({ ground: { tree } }: Life): ReadonlyMap<string, bigint> {
  const paid = new Map<string, bigint>();
  for (const { logs } of branchOf(tree.tip))
    for (const [i, log] of logs.entries()) {
      const before = logs[i - 1];
      if (log.event !== "transfer" || log.to !== treasury || before?.event !== "authorization-used") continue;
      if (before.txHash === log.txHash) paid.set(before.payer + before.nonce, log.amount);
    }
  return paid;
}

/** Oracle 2: live credits are one when and only when the final chain moved the money. */
function checkCredits(life: Life, claims: readonly ClaimRow[]): void {
  const paid = paidOnChain(life);
  for (const claim of claims) {
    const moved = paid.get(claim.payer + claim.nonce) === BigInt(claim.amount);
    const about = `claim ${claim.key.slice(0, 10)} is ${claim.state}/${claim.credit_state}, the books say ${claim.live}, the chain ${moved}`;
    const expected = moved && claim.state !== "review" ? BigInt(claim.amount) : 0n;
    if (BigInt(claim.live) !== expected || (claim.state === "final") !== expected > 0n)
      throw new Violation("credit-follows-chain", about);
    if (claim.slots > 3 + claim.credit_epoch)
      throw new Violation(
        "spending-is-bounded",
        `claim ${claim.key.slice(0, 10)} was in ${claim.slots} transactions`,
      );
  }
}

/** What callers were told for good, against how it ended. */
function checkTold({ callers }: Life, claims: readonly ClaimRow[]): void {
  for (const payment of callers.payments) {
    const claim = claims.find(({ key }) => key === payment.key);
    for (const { answer, requestId, manner } of payment.asked) {
      const about = `${payment.name} ${requestId} was told ${answer?.outcome} (${answer?.reason})`;
      if (answer?.extra.chargeable === false && claim?.state === "final")
        throw new Violation("failure-is-known", `${about}, never to be charged, and was`);
      if (
        answer?.outcome === "bound-elsewhere" &&
        claim &&
        manner !== "other-payable" &&
        claim.payable_id === payment.sale.id
      )
        throw new Violation("binding-holds", `${about}, and it is bound here`);
    }
    const all = payment.asked.filter(({ isOpen }) => !isOpen);
    const nobodyClaimed = all.length === payment.asked.length && all.every(({ answer }) => isRefusal(answer));
    if (claim && nobodyClaimed)
      throw new Violation(
        "failure-is-known",
        `${payment.name}: all were refused, and a claim stands (${claim.state})`,
      );
  }
}

/** A success that never arrived is told to who asks next. Where an answer is unknown, so is who holds the grant. */
function checkGrants({ callers }: Life): void {
  for (const { name, asked, lastAsk } of callers.payments) {
    if (lastAsk?.answer?.outcome !== "duplicate") continue;
    const others = asked.filter((each) => each !== lastAsk);
    const isKnown = others.every(
      ({ answer, released, isOpen }) =>
        !isOpen &&
        answer &&
        !["unavailable", "pending"].includes(answer.outcome) &&
        (answer.outcome !== "settled" || released === "yes"),
    );
    if (isKnown)
      throw new Violation("grant-comes-back", `${name}: nobody was told of its success, and nobody will be`);
  }
}

interface Books extends Record<string, unknown> {
  readonly path: string;
  readonly held: string;
  readonly pending: string;
  readonly folded: string;
}

/** Oracles 1 and 3: every account is the fold of its transfers, and the treasury is what the chain holds. */
async function checkBooks(
  { ground: { backend, row, tree } }: Life,
  claims: readonly ClaimRow[],
): Promise<void> {
  const books = await backend.look<Books>(
    `WITH side AS (
       SELECT debit_account AS account, amount, phase FROM ledger_transfer WHERE asset = $1
       UNION ALL SELECT credit_account, -amount, phase FROM ledger_transfer WHERE asset = $1),
     fold AS (SELECT account, sum(CASE WHEN phase IN ('single','post') THEN amount ELSE 0 END) AS posted FROM side GROUP BY account)
     SELECT path, debits_posted - credits_posted AS held, debits_pending - credits_pending AS pending, coalesce(fold.posted, 0) AS folded
     FROM ledger_account AS a JOIN ledger_balance AS b ON b.account_id = a.id LEFT JOIN fold ON fold.account = a.id WHERE asset = $1`,
    [`USDC@${row.slug}`],
  );
  const sum = books.reduce((all, { held, pending }) => all + BigInt(held) + BigInt(pending), 0n);
  const unlike = books.find(({ held, folded }) => held !== folded);
  if (sum !== 0n || unlike)
    throw new Violation("books-balance", `the books are off by ${sum}, ${unlike?.path ?? ""}`);
  const open = books.find(({ pending }) => BigInt(pending) !== 0n);
  if (open) throw new Violation("everything-ends", `${open.path} has ${open.pending} pending`);
  const of = (part: string) =>
    books.reduce((all, { path, held }) => (path.includes(part) ? all + BigInt(held) : all), 0n);
  const onChain = tree.tip.token.balanceOf(treasury);
  if (of("asset:treasury") !== onChain)
    throw new Violation(
      "books-equal-chain",
      `the treasury holds ${onChain}, the books say ${of("asset:treasury")}`,
    );
  const credited = claims.reduce(
    (all, { state, amount }) => (state === "final" ? all + BigInt(amount) : all),
    0n,
  );
  if (-of(":available") - of("income:fees") !== credited)
    throw new Violation(
      "books-equal-chain",
      `merchant and fees have ${-of(":available") - of("income:fees")}, claims ${credited}`,
    );
}

/** Oracle 7: what was taken back had stood on a block beside which another one stands. */
async function checkReversals({ ground: { backend, row, tree } }: Life): Promise<void> {
  const voided = await backend.look<{ height: string; key: string }>(
    "SELECT block_number AS height, event_key AS key FROM ledger_transfer WHERE asset = $1 AND phase = 'void' AND event_key LIKE 'x402:%'",
    [`USDC@${row.slug}`],
  );
  for (const { height, key } of voided)
    if ((tree.heights.get(Number(height))?.size ?? 0) < 2)
      throw new Violation(
        "reversal-answers-fork",
        `${key} was taken back at ${height}, where no fork ever was`,
      );
}

/** Nothing was shut down by a world that never gave a reason to. */
async function checkStanding(life: Life): Promise<void> {
  const { backend, row } = life.ground;
  const found = await backend.look<{ what: string }>(
    `SELECT 'the chain is halted: ' || halted_reason AS what FROM observer WHERE chain_id = $1 AND halted_reason IS NOT NULL
     UNION ALL SELECT 'a lane is ' || state FROM signer WHERE chain_id = $1 AND state <> 'active'
     UNION ALL SELECT 'books differ from the chain in ' || place FROM reconciliation WHERE chain_id = $1 AND status = 'different'`,
    [row.chainId],
  );
  if (found[0]) throw new Violation("no-bug", found[0].what);
  await checkGaps(life);
}

interface LaneRow extends Record<string, unknown> {
  readonly address: Address;
  readonly next: number;
}

/** Oracle 5: a nonce that was taken and never mined would hold up all later ones for ever. */
async function checkGaps({ ground: { backend, row, tree } }: Life): Promise<void> {
  const lanes = await backend.look<LaneRow>(
    "SELECT '0x' || encode(address, 'hex') AS address, next_nonce::int AS next FROM signer WHERE chain_id = $1",
    [row.chainId],
  );
  for (const { address, next } of lanes) {
    const mined = tree.tip.nonces.get(address) ?? 0;
    if (mined !== next)
      throw new Violation("no-gaps", `lane ${address} took its nonces up to ${next}, and ${mined} are mined`);
  }
}

interface SlotRow extends Record<string, unknown> {
  readonly nonce: number;
  readonly hashes: readonly string[];
}

/** Oracle 5, blocks after the last fault: of every transaction that can still be mined the chain knows some form. */
export async function checkSent({ ground: { backend, row, tree } }: Life): Promise<void> {
  const slots = await backend.look<SlotRow>(
    `SELECT slot.nonce::int, array_agg('0x' || encode(attempt.tx_hash, 'hex')) AS hashes
     FROM slot JOIN attempt ON attempt.slot_id = slot.id WHERE slot.chain_id = $1 AND slot.open GROUP BY slot.id, slot.nonce`,
    [row.chainId],
  );
  const known = new Set<string>(tree.waiting.map(({ hash }) => hash));
  for (const { receipts } of branchOf(tree.tip)) for (const hash of receipts.keys()) known.add(hash);
  const lost = slots.find(({ hashes }) => !hashes.some((hash) => known.has(hash)));
  if (lost)
    throw new Violation(
      "sent-again",
      `nobody sends the transaction of nonce ${lost.nonce} again, which was lost`,
    );
}

const told = { credited: "settlement.credited", reversed: "settlement.reversed" };

/** Every fact was told, and what was told of a payment is what became of it: as many credits and reversals as it had. */
async function checkFacts({ ground }: Life, claims: readonly ClaimRow[]): Promise<void> {
  const facts = await ground.backend.look<{ id: string; type: string; key: string | null }>(
    `SELECT o.id, o.type, '0x' || encode(claim.claim_key, 'hex') AS key FROM outbox AS o LEFT JOIN claim ON claim.id = o.subject
     WHERE o.merchant_id = 'mer_simulated' AND (claim.chain_id = $1 OR claim.chain_id IS NULL)`,
    [ground.row.chainId],
  );
  const untold = facts.find(({ id }) => !ground.told.has(id));
  if (untold) throw new Violation("facts-delivered", `${untold.type} ${untold.id} was never told`);
  const stray = facts.find(({ key }) => key === null);
  if (stray) throw new Violation("facts-delivered", `${stray.type} was told of a claim that is not there`);
  for (const { key, credit_epoch: epoch, state } of claims) {
    const count = (type: string) => facts.filter((fact) => fact.key === key && fact.type === type).length;
    const [credited, reversed] = [count(told.credited), count(told.reversed)];
    const isFinal = state === "final" ? 1 : 0;
    if (credited !== epoch + isFinal || reversed !== epoch)
      throw new Violation(
        "facts-delivered",
        `claim ${key.slice(0, 10)} is ${state} in epoch ${epoch}, and was told credited ${credited}, reversed ${reversed} times`,
      );
  }
}
