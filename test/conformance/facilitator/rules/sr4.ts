import { setTimeout as sleep } from "node:timers/promises";
import { type Check, notApplicable, type Rule, verdictOf } from "../check.ts";
import { type Answer, isSuccess, told } from "../client.ts";
import { ownPayment, settled } from "../expect.ts";
import type { Lie } from "../lying-node.ts";
import type { odd } from "../props.ts";
import { falseSuccess, type Trial } from "../trial.ts";

/** How long a facilitator is given to say too much. */
const temptationMs = 2_000;

/** What settle says while no block comes; undefined if it waits, as it should. */
async function earlyAnswer(settling: Promise<Answer>): Promise<Answer | undefined> {
  const waited = new AbortController();
  const patience = sleep(temptationMs, undefined, { signal: waited.signal }).catch(() => undefined);
  const first = await Promise.race([settling, patience]);
  waited.abort();
  return first;
}

const beforeMined: Check = {
  id: "SR4.mined",
  does: "no block comes after the transaction was sent",
  expects: "no success before a block holds the payment, and the truth afterwards",
  async run(trial) {
    const body = await ownPayment(trial);
    return trial.chain.held(async (release) => {
      const settling = trial.client.settle(body);
      const early = await earlyAnswer(settling);
      await release();
      const late = await settling;
      return verdictOf(
        early && isSuccess(early) ? `settle: ${told(early)}, while no block held it` : null,
        await falseSuccess(trial, body, late),
      );
    });
  },
};

/** A receipt for whatever is asked after, as of a block that is there. */
const receiptOfNothing: Lie = ({ method, params }, truth) =>
  method !== "eth_getTransactionReceipt" || truth.result
    ? truth
    : {
        result: {
          transactionHash: params?.[0],
          transactionIndex: "0x0",
          blockHash: `0x${"b1".repeat(32)}`,
          blockNumber: "0x1",
          from: `0x${"0".repeat(40)}`,
          to: `0x${"0".repeat(40)}`,
          contractAddress: null,
          cumulativeGasUsed: "0x5208",
          gasUsed: "0x5208",
          effectiveGasPrice: "0x1",
          logs: [],
          logsBloom: `0x${"0".repeat(512)}`,
          status: "0x1",
          type: "0x2",
        },
      };

const lyingReceipt: Check = {
  id: "SR4.receipt",
  does: "the chain node shows a good receipt, without logs, of a transaction that is in no block",
  expects: "no success before a block holds the payment",
  async run(trial) {
    const { node, chain, client } = trial;
    if (!node) return notApplicable("its chain node is out of the runner's hands");
    const body = await ownPayment(trial);
    return chain.held(async (release) => {
      const settling = client.settle(body);
      const early = await node.lying(receiptOfNothing, () => earlyAnswer(settling));
      await release();
      await settling;
      return verdictOf(early && isSuccess(early) ? `settle: ${told(early)}, while no block held it` : null);
    });
  },
};

const inToken = (mode: keyof typeof odd, does: string): Check => ({
  id: `SR4.token.${mode}`,
  does: `a token that the caller brings: ${does}`,
  expects: "refused, or a success that the payee's balance bears out",
  async run(trial: Trial) {
    const offer = await trial.props.oddOffer(trial.offer, mode, trial.rich.address);
    const body = await trial.payment({}, trial.rich, offer);
    const { asset, payTo, amount } = offer.option;
    const before = await trial.chain.balance(payTo, asset);
    const answer = await trial.client.settle(body);
    const got = (await trial.chain.balance(payTo, asset)) - before;
    return verdictOf(
      isSuccess(answer) &&
        got !== BigInt(amount) &&
        `settle: ${told(answer)}, but the payee got ${got} of ${amount}`,
    );
  },
});

export const sr4: Rule = {
  id: "SR4",
  says: "“settled” is said only when it is",
  checks: [
    { id: "SR4.good", does: "a payment that settles", ...settled((trial) => ownPayment(trial)) },
    beforeMined,
    lyingReceipt,
    inToken("saysFalse", "it moves nothing and does not revert"),
    inToken("liesTrue", "it moves nothing and says that it did"),
    inToken("keepsFee", "it keeps a unit of each transfer"),
  ],
};
