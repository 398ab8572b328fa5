import { fault } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { outageOf } from "#store";
import { payableKey } from "../../payable/find.ts";
import type { ClaimOutcome, NewClaim } from "../claim/claim.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";
import { reopen } from "../claim/reopen.ts";
import { type Examined, examine } from "../verify/examine.ts";
import type { PaymentRequest, SettleAnswer } from "../verify/request.ts";
import { feeOf, otherTerms, type Understood, understand } from "../verify/understand.ts";
import {
  boundElsewhereAnswer,
  comeLaterAnswer,
  duplicateAnswer,
  failedAnswer,
  goneAnswer,
  pendingAnswer,
  refusedAnswer,
  settledAnswer,
  unavailableAnswer,
  unknownPayableAnswer,
} from "./answer.ts";
import { answerIds, idReused, replay } from "./replay.ts";
import type { Settling } from "./settling.ts";

interface Caller {
  readonly closed: AbortSignal;
}

/** Settle one payment: admit, claim, wait, grant. All chain work is done by loops, so a caller who hangs up changes
 *  nothing, once its turn to be admitted has come; before that nothing is claimed for it. Never throws for an outage:
 *  that is the outcome `unavailable`. Fault: `rate_limited`, for a gas budget; then this call claimed nothing. */
export async function settle(
  settling: Settling,
  request: PaymentRequest,
  caller: Caller,
): Promise<SettleAnswer> {
  const leave = settling.telling.enter();
  try {
    const answer = await settleOrThrow(settling, request, caller);
    settling.engine.meter.count("settlements", { outcome: answer.outcome, reason: answer.reason ?? "none" });
    return answer;
  } catch (error) {
    const outage = outageOf(error);
    if (!outage) throw error;
    settling.engine.log.warn(errorFields(error), "a settle could not be checked or recorded");
    settling.engine.meter.count("settlements", { outcome: "unavailable", reason: outage.code });
    return unavailableAnswer(request, outage);
  } finally {
    leave();
  }
}

async function settleOrThrow(
  settling: Settling,
  request: PaymentRequest,
  caller: Caller,
): Promise<SettleAnswer> {
  const intake = settling.intakes.get(request.selection.network);
  // On a network that is not served nothing is asked of anybody.
  if (!intake) return waitIfClaimed(settling, await admit(settling, request), caller);
  // All that name nothing share a place.
  const answer = await intake.serve(payableKey(request.target) ?? "", async (claimed) => {
    const admitted = await intake.admit(async () =>
      caller.closed.aborted ? goneAnswer(request) : admit(settling, request),
    );
    if ("claim" in admitted) claimed();
    return waitIfClaimed(settling, admitted, caller);
  });
  return answer ?? comeLaterAnswer(request);
}

/** An authorization whose claim stands. */
interface Standing {
  readonly it: Understood;
  readonly claim: ToldClaim | NewClaim;
}

/** The claim to wait for, made now or before; or the answer, where there is none. */
async function admit(settling: Settling, request: PaymentRequest): Promise<Standing | SettleAnswer> {
  const understanding = await understand(settling.reading, request);
  if (understanding.kind === "unknown-payable") return unknownPayableAnswer(request, understanding.message);
  if (understanding.kind === "refused")
    return refusedAnswer(request, understanding.refusal, understanding.payer);
  const { it } = understanding;
  const known = it.known.claim;
  if (!known) return makeClaim(settling, it);
  const other = known.fingerprint === it.fingerprint() ? otherTerms(it) : null;
  if (other) return refusedAnswer(request, other, it.authorization.payer);
  // What was answered under an id was claimed before.
  return (await replay(settling, it)) ?? admitKnown(settling, it, known);
}

/** An authorization that was claimed before: its row answers, whatever has become of the payer since. */
async function admitKnown(
  settling: Settling,
  it: Understood,
  known: ToldClaim,
): Promise<Standing | SettleAnswer> {
  if (known.fingerprint !== it.fingerprint()) return boundElsewhereAnswer(settling.engine, known);
  if (known.state !== "failed-watch") return { it, claim: known };
  const refusal = await reopen(settling, it, known);
  if (!refusal) return { it, claim: { ...known, state: "claimed" } };
  const now = await settling.loadClaim(it.claimKey);
  if (now && now.state !== "failed-watch") return { it, claim: now };
  const transaction = await settling.newestTransaction(known);
  return failedAnswer(settling.engine, { ...known, ...refusal }, transaction);
}

async function makeClaim(settling: Settling, it: Understood): Promise<Standing | SettleAnswer> {
  const examined = await examine(settling.looking, it);
  if ("reason" in examined) {
    // What we saw may be the work of an identical call that was faster: its claim binds the payer's money, or moved it.
    const faster = await settling.loadClaim(it.claimKey);
    const stored = await replay(settling, it);
    if (stored) return stored;
    if (faster) return admitKnown(settling, it, faster);
    return refusedAnswer(it.request, examined, it.authorization.payer);
  }
  const row = newClaim(settling, it, examined);
  const outcome = await writeClaim(settling, it, { row, standings: examined.standings });
  if (outcome === "held-by-another") {
    const message = "Another payment of this is under way; it can be paid once. Nothing was charged.";
    return refusedAnswer(
      it.request,
      { reason: "invalid_payment_requirements", message },
      it.authorization.payer,
    );
  }
  if (outcome === "id-reused") return idReused(it);
  settling.wake();
  if (outcome === "claimed") return { it, claim: row };
  const existing = await settling.loadClaim(it.claimKey).catch((error: unknown) => {
    // Somebody was faster, perhaps with another payable: it is recorded, and nobody can say what.
    throw outageOf(error) ? fault("commit_unknown", {}, error) : error;
  });
  if (!existing) throw new Error("a claim that exists cannot be read");
  return { it, claim: existing };
}

/** Within the gas budgets, which count it from here on. Fault: `rate_limited`. */
async function writeClaim(
  { looking, writeClaim: write }: Settling,
  it: Understood,
  { row, standings }: { readonly row: NewClaim; readonly standings: Examined["standings"] },
): Promise<ClaimOutcome> {
  const leave = standings ? looking.budgets.admit(it, standings) : () => {};
  const { once, heldAs = null } = it.payable;
  try {
    return await write({ row, once, heldAs, answerIds: answerIds(it) });
  } finally {
    leave();
  }
}

/** Where a claim stands: whatever fails from here on, its outcome is open and must not be told as anything else. */
async function waitIfClaimed(
  settling: Settling,
  admitted: Standing | SettleAnswer,
  caller: Caller,
): Promise<SettleAnswer> {
  if (!("claim" in admitted)) return admitted;
  const { it, claim } = admitted;
  try {
    return await waitAndAnswer(settling, it, claim, caller);
  } catch (error) {
    if (!outageOf(error)) throw error;
    settling.engine.log.warn(errorFields(error), "a settle lost sight of its claim");
    const { includedTx = null } = claim;
    return pendingAnswer(settling.engine, { ...claim, includedTx }, includedTx ?? "");
  }
}

function newClaim(
  { engine, firstSight }: Settling,
  it: Understood,
  { option, alreadyUsed }: Examined,
): NewClaim {
  const { authorization, open, payable, rail, scheme } = it;
  // A stranger's submission makes the signature public: a claim by another payable than the first seen needs a person.
  const stolen = alreadyUsed && firstSight.isOther(it.claimKey, payable.id);
  return {
    claimKey: it.claimKey,
    id: engine.newId("stl"),
    kind: "x402",
    merchantId: payable.merchantId,
    payableId: payable.id,
    chainId: open.chain.row.chainId,
    method: authorization.method,
    nonceDomain: scheme.nonceDomain(rail.token.contract),
    payer: authorization.payer,
    nonce: authorization.nonce,
    token: rail.token.contract,
    payTo: option.payTo,
    amount: option.amount,
    fee: feeOf(option, payable.feeBps),
    validAfter: authorization.validAfter,
    validBefore: authorization.validBefore,
    signature: authorization.signature,
    payerHasCode: it.payerHasCode,
    fingerprint: it.fingerprint(),
    state: stolen ? "review" : alreadyUsed ? "submitting" : "claimed",
    holdsPayable: payable.once,
  };
}

async function waitAndAnswer(
  settling: Settling,
  it: Understood,
  claim: ToldClaim | NewClaim,
  { closed }: Caller,
): Promise<SettleAnswer> {
  const { engine, waiters } = settling;
  const deadline =
    engine.clock.monotonicMs() + Math.min(it.payable.maxTimeoutSeconds * 1000, engine.settings.maxWaitMs);
  const started = engine.clock.monotonicMs();
  // An answer that can be asked for again by an id is stored with its grant, which the credit does not do.
  const grantee =
    claim.fingerprint === it.fingerprint() && answerIds(it).length === 0 ? it.request.requestId : null;
  let decided = !isOpen(claim);
  let row = decided ? await settling.loadClaim(it.claimKey) : null;
  while (!row || (decided && isOpen(row))) {
    const ended = await waiters.wait(claim, deadline - engine.clock.monotonicMs(), closed, grantee);
    decided = ended !== false;
    row = typeof ended === "object" ? ended : await settling.loadClaim(it.claimKey);
    if (!row) throw new Error("a committed claim cannot be read");
  }
  engine.meter.time("include", (engine.clock.monotonicMs() - started) / 1000);
  return answerFrom(settling, it, row);
}

const isOpen = ({ creditState = "none", state }: ToldClaim | NewClaim) =>
  creditState === "none" && (state === "claimed" || state === "submitting");

async function answerFrom(settling: Settling, it: Understood, row: ToldClaim): Promise<SettleAnswer> {
  const { engine } = settling;
  if (row.fingerprint !== it.fingerprint()) return boundElsewhereAnswer(engine, row);
  if (row.creditState !== "none") return grantOrRefuse(settling, it, row);
  const transaction = await settling.newestTransaction(row);
  const undecided = isOpen(row) || row.state === "review";
  return undecided ? pendingAnswer(engine, row, transaction) : failedAnswer(engine, row, transaction);
}

async function grantOrRefuse(settling: Settling, it: Understood, row: ToldClaim): Promise<SettleAnswer> {
  const { engine } = settling;
  const answer: SettleAnswer = { ...settledAnswer(engine, row), payableId: it.payable.id };
  if (row.grantedTo !== it.request.requestId) {
    const other = await grantNow(settling, it, row, answer);
    if (other) return other;
  }
  await settling.telling.untilTold(it.payable.merchantId);
  return answer;
}

/** Null when success is granted; else what this caller is told in its place. */
async function grantNow(
  settling: Settling,
  it: Understood,
  row: ToldClaim,
  answer: SettleAnswer,
): Promise<SettleAnswer | null> {
  const { engine } = settling;
  const started = engine.clock.monotonicMs();
  const won = await settling.grant({
    claimKey: row.claimKey,
    requestId: it.request.requestId,
    answer,
    answerIds: answerIds(it),
  });
  engine.meter.time("grant", (engine.clock.monotonicMs() - started) / 1000);
  if (won) return null;
  return (await replay(settling, it)) ?? answerUngranted(settling, it, row);
}

/** Somebody else was told success; or its block has just left the chain, and nobody was. */
async function answerUngranted(settling: Settling, it: Understood, row: ToldClaim): Promise<SettleAnswer> {
  const now = row.grantedAt ? row : await settling.loadClaim(row.claimKey);
  if (!now) throw new Error("a committed claim cannot be read");
  const isReversed = now.creditState === "none" && !now.grantedAt;
  return isReversed ? answerFrom(settling, it, now) : duplicateAnswer(settling.engine, row);
}
