import { administer, cancel, submitAuthorization } from "../acts.ts";
import { type Check, notApplicable, type Rule } from "../check.ts";
import { type ownPayment, refusedAfter } from "../expect.ts";
import { newPayer, type Payer } from "../payment.ts";
import type { Trial } from "../trial.ts";

/** Only where somebody owns the token. */
function byOwner(check: Check): Check {
  return {
    ...check,
    run: (trial) =>
      trial.tokenOwner ? check.run(trial) : Promise.resolve(notApplicable("the token has no owner")),
  };
}

/** A payment and its payer, who changes something afterwards. */
function withPayer(
  change: (trial: Trial, payer: Payer, body: Awaited<ReturnType<typeof ownPayment>>) => Promise<void>,
) {
  let payer: Payer;
  return refusedAfter(
    (trial, body) => change(trial, payer, body),
    async (trial) => {
      payer = await trial.payer(BigInt(trial.offer.option.amount));
      return trial.payment({}, payer);
    },
  );
}

const payerOf = (body: Awaited<ReturnType<typeof ownPayment>>) =>
  body.paymentPayload.payload.authorization.from;

const expires = refusedAfter(
  async ({ chain }) => chain.ahead(60),
  async (trial) => {
    const payer = await trial.payer(BigInt(trial.offer.option.amount));
    return trial.payment({ validBefore: (await trial.chain.time()) + 40n }, payer);
  },
);

export const sr7: Rule = {
  id: "SR7",
  says: "everything is checked again right before it is sent",
  checks: [
    {
      id: "SR7.drain",
      does: "between verify and settle the payer spends the money elsewhere",
      ...withPayer(async ({ chain, offer }, payer) => {
        const { asset, amount } = offer.option;
        await chain.transfer(payer.address, asset, newPayer().address, BigInt(amount));
      }),
    },
    {
      id: "SR7.cancel",
      does: "between verify and settle the payer cancels the authorization",
      ...withPayer(cancel),
    },
    {
      id: "SR7.code",
      does: "between verify and settle the payer's account gets code that knows no signature",
      ...refusedAfter(async ({ chain }, body) => {
        await chain.ask("anvil_setCode", [payerOf(body), "0x00"]);
        return () => chain.ask("anvil_setCode", [payerOf(body), "0x"]);
      }),
    },
    byOwner({
      id: "SR7.pause",
      does: "between verify and settle the token is paused",
      ...refusedAfter(async (trial) => {
        await administer(trial, "pause");
        return () => administer(trial, "unpause");
      }),
    }),
    byOwner({
      id: "SR7.block-payer",
      does: "between verify and settle the token blocks the payer",
      ...refusedAfter((trial, body) => administer(trial, "block", payerOf(body))),
    }),
    byOwner({
      id: "SR7.block-payee",
      does: "between verify and settle the token blocks the payee",
      ...refusedAfter(async (trial) => {
        const { payTo } = trial.offer.option;
        await administer(trial, "block", payTo);
        return () => administer(trial, "unblock", payTo);
      }),
    }),
    {
      id: "SR7.nonce",
      does: "between verify and settle the nonce pays somebody else",
      ...refusedAfter(
        async (trial, body) => {
          const { nonce } = body.paymentPayload.payload.authorization;
          const elsewhere = await trial.payment({ to: newPayer().address, nonce: nonce as never });
          await submitAuthorization(trial, elsewhere);
        },
        (trial) => trial.payment(),
      ),
    },
    {
      id: "SR7.expire",
      does: "between verify and settle the authorization expires",
      expects: expires.expects,
      isLast: true,
      run: (trial) =>
        trial.canMoveClock
          ? expires.run(trial)
          : Promise.resolve(notApplicable("--move-clock is not set, and a chain's clock cannot be set back")),
    },
  ],
};
