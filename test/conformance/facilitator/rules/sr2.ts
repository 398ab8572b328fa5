import { encodeAbiParameters, encodeFunctionData, type Hex } from "viem";
import { curveOrder, formsOf } from "../../../facilitator/scheme/samples.ts";
import { type Body, inPayload, stranger, withSignature } from "../../bad-input/row.ts";
import { type Check, kept, notApplicable, type Rule, verdictOf } from "../check.ts";
import { told } from "../client.ts";
import { consistent, ownPayment, refused, settled } from "../expect.ts";
import { newPayer } from "../payment.ts";
import type { wallets } from "../props.ts";
import type { Trial } from "../trial.ts";

const forms = (signature: string) => formsOf(signature as Hex);
const word = (value: bigint) => value.toString(16).padStart(64, "0");
const withForm = (change: (signature: string) => string) => async (trial: Trial) =>
  withSignature(change)(await trial.payment());

/** Signatures that are none, or somebody else's. */
const forged: readonly Check[] = (
  [
    ["upper-s", "the upper of the two s that the curve would take", (was) => forms(was).high],
    ["parity", "the other parity", (was) => forms(was).full(28 - forms(was).recovery)],
    ["zero", "zeros", () => `0x${"0".repeat(130)}`],
    ["r-at-order", "an r at the order of the curve", (was) => `0x${word(curveOrder)}${was.slice(66)}`],
    ["v-29", "v 29", (was) => forms(was).full(29)],
    ["empty", "no bytes", () => "0x"],
    ["short", "two bytes too few", (was) => was.slice(0, -4)],
    ["long", "a byte too many", (was) => `${was}00`],
    ["longer", "two hundred bytes of nothing", () => `0x${"ab".repeat(200)}`],
  ] as const satisfies readonly (readonly [string, string, (was: string) => string])[]
).map(([name, does, change]) => ({
  id: `SR2.${name}`,
  does: `a signature of ${does}`,
  ...refused(withForm(change)),
}));

/** The ways in which one signature may be written; the chain takes only one of them as it is. */
const written: readonly Check[] = (
  [
    ["v-0-1", "with v 0 or 1", (was) => forms(was).bare],
    ["compact", "in 64 bytes (ERC-2098)", (was) => forms(was).compact],
  ] as const satisfies readonly (readonly [string, string, (was: string) => string])[]
).map(([name, does, change]) => ({
  id: `SR2.${name}`,
  does: `a good signature ${does}`,
  ...consistent(async (trial) => withForm(change)(trial) as Promise<Body>),
}));

async function walletPayment(trial: Trial, mode: keyof typeof wallets, owner?: typeof stranger) {
  const signer = newPayer();
  const wallet = await trial.props.wallet((owner ?? signer.address) as never, mode);
  const funded = await trial.payer(BigInt(trial.offer.option.amount));
  await trial.chain.transfer(
    funded.address,
    trial.offer.option.asset,
    wallet,
    BigInt(trial.offer.option.amount),
  );
  return trial.payment({ from: wallet }, signer);
}

const accounts: readonly Check[] = [
  {
    id: "SR2.wallet",
    does: "a contract wallet (ERC-1271) signs by its owner",
    ...consistent((trial) => walletPayment(trial, "honest")),
  },
  {
    id: "SR2.wallet-of-another",
    does: "a contract wallet, signed by a key that is not its owner",
    ...refused((trial) => walletPayment(trial, "honest", stranger)),
  },
  {
    id: "SR2.wallet-dry",
    does: "a contract wallet says yes only where the base fee or the gas price is zero, as in a simulation",
    ...refused((trial) => walletPayment(trial, "onlySimulated")),
  },
  {
    id: "SR2.delegated",
    does: "an account that is delegated to code without ERC-1271 (EIP-7702), signed by its own key",
    ...refused(async (trial) => {
      const body = await ownPayment(trial);
      const { from } = body.paymentPayload.payload.authorization;
      await trial.chain.ask("anvil_setCode", [from, `0xef0100${trial.props.oddToken.slice(2)}`]);
      return body;
    }),
  },
];

/** abi.encode(factory, call, signature) and the marker: a wallet that says it would be deployed by the call. */
export function counterfactual(factory: Hex, call: Hex, signature: Hex): Hex {
  const parts = encodeAbiParameters(
    [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
    [factory, call, signature],
  );
  return `${parts}${"6492".repeat(16)}`;
}

const undeployed: Check = {
  id: "SR2.unlisted-factory",
  does: "a wallet that is not deployed, with a factory that nobody listed (ERC-6492)",
  ...refused(async (trial) => {
    const good = await trial.payment({}, await trial.payer(BigInt(trial.offer.option.amount)));
    const { oddToken, oddTokenAbi } = trial.props;
    const data = encodeFunctionData({ abi: oddTokenAbi, functionName: "mint", args: [stranger, 1n] });
    const signature = counterfactual(oddToken, data, good.paymentPayload.payload.signature as Hex);
    return inPayload({ signature })(good);
  }),
};

const outage: Check = {
  id: "SR2.endpoint",
  does: "the chain node fails every call while a good payment is verified",
  expects: "whatever is said, not that the signature is wrong",
  async run(trial) {
    if (!trial.node) return notApplicable("its chain node is out of the runner's hands");
    const body = await trial.payment();
    const failing = (call: { readonly method: string }, truth: object) =>
      /^eth_(call|getCode)$/.test(call.method)
        ? { error: { code: -32603, message: "internal error" } }
        : truth;
    const answer = await trial.node.lying(failing, () => trial.client.verify(body));
    const reason = String(answer.body?.invalidReason ?? "");
    return /signature/.test(reason) ? verdictOf(`verify: ${told(answer)}`) : kept;
  },
};

export const sr2: Rule = {
  id: "SR2",
  says: "the signature is the payer's own, by the payer's kind of account",
  checks: [
    { id: "SR2.good", does: "a good signature", ...settled((trial) => trial.payment()) },
    {
      id: "SR2.key",
      does: "signed by a key that is not the payer's",
      ...refused((trial) => trial.payment({ from: trial.rich.address }, newPayer())),
    },
    ...forged,
    ...written,
    ...accounts,
    undeployed,
    outage,
  ],
};
