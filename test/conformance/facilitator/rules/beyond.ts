import { setTimeout as sleep } from "node:timers/promises";
import { overtake, submitAuthorization } from "../acts.ts";
import { type Rule, verdictOf } from "../check.ts";
import { isPending, isSuccess, told } from "../client.ts";
import { ownPayment } from "../expect.ts";
import { falseSuccess } from "../trial.ts";

/** Whether it does, within five seconds. */
async function happens(holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + 5_000;
  while (performance.now() < deadline) {
    if (await holds()) return true;
    await sleep(50);
  }
  return false;
}

/** What the eight rules do not ask for and payers miss most. */
export const beyond: Rule = {
  id: "beyond",
  says: "beyond the eight rules: money that arrived is acknowledged",
  checks: [
    {
      id: "beyond.duplicate",
      does: "a settled payment is settled again",
      expects: "the refusal names the transaction that paid",
      async run(trial) {
        const body = await ownPayment(trial);
        const first = await trial.client.settle(body);
        const second = await trial.client.settle(body);
        return verdictOf(
          !isSuccess(first) && `the first settle: ${told(first)}`,
          second.body?.transaction !== first.body?.transaction && `the second settle: ${told(second)}`,
        );
      },
    },
    {
      id: "beyond.stranger",
      does: "somebody else has submitted the payer's authorization before it is settled",
      expects: "success: the payee has the money",
      async run(trial) {
        const body = await ownPayment(trial);
        await submitAuthorization(trial, body);
        const answer = await trial.client.settle(body);
        return verdictOf(
          !isSuccess(answer) && `settle: ${told(answer)}`,
          await falseSuccess(trial, body, answer),
        );
      },
    },
    {
      id: "beyond.overtaken",
      does: "a stranger's transaction with a higher tip is mined before the facilitator's own",
      expects: "success with the stranger's transaction, or an answer that leaves the outcome open",
      async run(trial) {
        const { chain, client, signers } = trial;
        const body = await ownPayment(trial);
        return chain.held(async (release) => {
          const before = await chain.sentBy(signers);
          const settling = client.settle(body);
          const sent = await happens(async () => (await chain.sentBy(signers)) > before);
          await overtake(trial, body);
          await release();
          const answer = await settling;
          return verdictOf(
            !sent && "settle sent nothing for five seconds",
            !isSuccess(answer) && !isPending(answer) && `settle: ${told(answer)}, though the payee was paid`,
            await falseSuccess(trial, body, answer),
          );
        });
      },
    },
  ],
};
