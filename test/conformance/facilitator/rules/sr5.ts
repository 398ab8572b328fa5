import { stranger } from "../../bad-input/row.ts";
import { cancel, submitAuthorization } from "../acts.ts";
import { type Check, type Rule, verdictOf } from "../check.ts";
import { isSuccess, isValid, told } from "../client.ts";
import { failedSince, neverSent, ownPayment, refused } from "../expect.ts";
import { domainOf } from "../payment.ts";
import { falseSuccess, type Trial, watching } from "../trial.ts";

const repeats = 1_000;
const atOnce = 16;

const ofAmount = (amount: bigint) => async (trial: Trial) => {
  const { url, option } = trial.offer;
  return trial.payment({}, trial.rich, { url, option: { ...option, amount: amount.toString() } });
};

const poor = (missing: bigint) => async (trial: Trial) => {
  const amount = BigInt(trial.offer.option.amount);
  return trial.payment({}, await trial.payer(missing === 0n ? 0n : amount - missing));
};

const manyTimes: Check = {
  id: "SR5.at-once",
  does: `one payment settled ${repeats.toLocaleString("en-US")} times at once`,
  expects: "one transaction, at most one success",
  async run(trial) {
    const body = await ownPayment(trial);
    const { result, sent } = await watching(trial, () =>
      Promise.all(Array.from({ length: repeats }, () => trial.client.settle(body).catch(() => null))),
    );
    const successes = result.filter((answer) => answer && isSuccess(answer)).length;
    const paid = result.find((answer) => answer && isSuccess(answer));
    return verdictOf(
      sent !== 1 && `${sent} transactions sent`,
      successes > 1 && `${successes} answers of success`,
      paid ? await falseSuccess(trial, body, paid) : null,
    );
  },
};

const oneBalance: Check = {
  id: "SR5.one-balance",
  does: `${atOnce} payments at once of a payer who has the money for one`,
  expects: "no transaction fails, and at most one success",
  async run(trial) {
    const payer = await trial.payer(BigInt(trial.offer.option.amount));
    const bodies = await Promise.all(Array.from({ length: atOnce }, () => trial.payment({}, payer)));
    const after = await trial.chain.head();
    const answers = await Promise.all(bodies.map((body) => trial.client.settle(body)));
    const successes = answers.filter(isSuccess).length;
    return verdictOf(await failedSince(trial, after), successes > 1 && `${successes} answers of success`);
  },
};

const again: Check = {
  id: "SR5.again",
  does: "a settled payment is verified and settled again",
  expects: "both are refused and nothing is sent",
  async run(trial) {
    const body = await ownPayment(trial);
    const first = await trial.client.settle(body);
    if (!isSuccess(first)) return verdictOf(`the first settle: ${told(first)}`);
    const { result, sent } = await watching(trial, async () => ({
      verified: await trial.client.verify(body),
      settled: await trial.client.settle(body),
    }));
    return verdictOf(
      isValid(result.verified) && `verify: ${told(result.verified)}`,
      isSuccess(result.settled) && `settle: ${told(result.settled)}`,
      sent > 0 && `${sent} transaction(s) sent`,
    );
  },
};

const strangerFirst: Check = {
  id: "SR5.stranger-first",
  does: "somebody else has submitted the payer's authorization before it is settled",
  expects: "nothing is sent; a success names the transaction that paid",
  async run(trial) {
    const body = await ownPayment(trial);
    await submitAuthorization(trial, body);
    const { result, sent } = await watching(trial, () => trial.client.settle(body));
    return verdictOf(await falseSuccess(trial, body, result), sent > 0 && `${sent} transaction(s) sent`);
  },
};

export const sr5: Rule = {
  id: "SR5",
  says: "what cannot be paid, or was, costs no gas",
  checks: [
    { id: "SR5.zero", does: "a payment of nothing", ...refused(ofAmount(0n)) },
    { id: "SR5.dust", does: "a payment of one unit, far below what its gas costs", ...refused(ofAmount(1n)) },
    { id: "SR5.penniless", does: "a payer without money", ...refused(poor(0n)) },
    { id: "SR5.unit-short", does: "a payer who lacks one unit", ...refused(poor(1n)) },
    {
      id: "SR5.fresh",
      does: "an authorization that expires in three seconds, before a block may hold it",
      ...refused(async (trial) => trial.payment({ validBefore: (await trial.chain.time()) + 3n })),
    },
    {
      id: "SR5.nonce",
      does: "an authorization whose nonce paid somebody else",
      ...refused(async (trial) => {
        const body = await ownPayment(trial);
        const nonce = body.paymentPayload.payload.authorization.nonce as never;
        const elsewhere = await trial.payment({ to: stranger, nonce, domain: domainOf(trial.offer.option) });
        const mine = await trial.payment({ nonce });
        await submitAuthorization(trial, elsewhere);
        return mine;
      }),
    },
    {
      id: "SR5.cancelled",
      does: "an authorization that its payer cancelled",
      ...refused(async (trial) => {
        const payer = await trial.payer(BigInt(trial.offer.option.amount));
        const body = await trial.payment({}, payer);
        await cancel(trial, payer, body);
        return body;
      }),
    },
    {
      id: "SR5.stranger-paid-less",
      does: "an authorization whose nonce brought the payee less",
      ...neverSent(async (trial) => {
        const less = await trial.payment({ value: 1n });
        const nonce = less.paymentPayload.payload.authorization.nonce as never;
        await submitAuthorization(trial, less);
        return trial.payment({ nonce });
      }),
    },
    again,
    strangerFirst,
    oneBalance,
    manyTimes,
  ],
};
