/** What keeps a rule, as the chain shows it. Each makes the expectation and the run of a check. */
import type { Body } from "../bad-input/row.ts";
import { type Check, type Verdict, verdictOf } from "./check.ts";
import { isPending, isSuccess, isValid, told } from "./client.ts";
import { falseSuccess, type Trial, watching } from "./trial.ts";

type Expectation = Pick<Check, "expects" | "run">;
type Make = (trial: Trial) => Promise<unknown>;

const sentText = (sent: number) => sent > 0 && `${sent} transaction(s) sent`;

async function refusal(trial: Trial, body: unknown, { verifies = true } = {}): Promise<Verdict> {
  const { result, sent } = await watching(trial, async () => ({
    verified: verifies ? await trial.client.verify(body) : null,
    settled: await trial.client.settle(body),
  }));
  const { verified, settled } = result;
  return verdictOf(
    verified !== null && isValid(verified) && `verify: ${told(verified)}`,
    isSuccess(settled) && `settle: ${told(settled)}`,
    isPending(settled) && `settle: ${told(settled)}`,
    sentText(sent),
  );
}

/** A bad payment. */
export const refused = (make: Make): Expectation => ({
  expects: "verify and settle both refuse it; nothing is sent",
  run: async (trial) => refusal(trial, await make(trial)),
});

/** A bad payment of whose kind verify may know nothing. */
export const neverSent = (make: Make): Expectation => ({
  expects: "settle refuses it; nothing is sent",
  run: async (trial) => refusal(trial, await make(trial), { verifies: false }),
});

/** A good payment. */
export const settled = (make: (trial: Trial) => Promise<Body>): Expectation => ({
  expects:
    "verify accepts it; settle says success and the chain shows the payment in the transaction it names",
  async run(trial) {
    const body = await make(trial);
    const verified = await trial.client.verify(body);
    const answer = await trial.client.settle(body);
    return verdictOf(
      !isValid(verified) && `verify: ${told(verified)}`,
      !isSuccess(answer) && `settle: ${told(answer)}`,
      await falseSuccess(trial, body, answer),
    );
  },
});

/** A payment that a facilitator may take or leave, but not one way and then the other. */
export const consistent = (make: (trial: Trial) => Promise<Body>): Expectation => ({
  expects: "verify and settle agree; success only if the chain shows it; no transaction is sent in vain",
  async run(trial) {
    const body = await make(trial);
    const after = await trial.chain.head();
    const { result, sent } = await watching(trial, async () => ({
      verified: await trial.client.verify(body),
      answer: await trial.client.settle(body),
    }));
    const { verified, answer } = result;
    return verdictOf(
      isValid(verified) !== isSuccess(answer) && `verify: ${told(verified)}; settle: ${told(answer)}`,
      await falseSuccess(trial, body, answer),
      !isSuccess(answer) && sentText(sent),
      await failedSince(trial, after),
    );
  },
});

/** A good payment that turns bad between verify and settle. `change` gives a function that undoes it, if
 *  anything must. */
export const refusedAfter = (
  change: (trial: Trial, body: Body) => Promise<unknown>,
  make?: (trial: Trial) => Promise<Body>,
): Expectation => ({
  expects: "verify accepted it; settle refuses it and nothing is sent",
  async run(trial) {
    const body = make ? await make(trial) : await ownPayment(trial);
    const verified = await trial.client.verify(body);
    const undo = await change(trial, body);
    try {
      const verdict = await refusal(trial, body, { verifies: false });
      if (verdict.kind === "violated" || isValid(verified)) return verdict;
      return verdictOf(`verify refused it before anything had changed: ${told(verified)}`);
    } finally {
      if (typeof undo === "function") await undo();
    }
  },
});

/** Of a payer who has money for this payment and no more. */
export async function ownPayment(trial: Trial): Promise<Body> {
  const payer = await trial.payer(BigInt(trial.offer.option.amount));
  return trial.payment({}, payer);
}

/** Null, or how many of the facilitator's transactions failed after the block. */
export async function failedSince(trial: Trial, after: number): Promise<string | null> {
  const mined = await trial.chain.minedOf(trial.signers, after);
  const failed = mined.filter(({ status }) => status !== "0x1").length;
  return failed === 0 ? null : `${failed} transaction(s) failed on chain`;
}
