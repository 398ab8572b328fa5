/** Which facilitator is checked, and where it stands. */
import { parseArgs } from "node:util";

export interface Foreign {
  readonly facilitator: string;
  readonly rpcUrl: string;
  readonly asset: string;
  readonly payTo: string;
  readonly amount: string;
  /** URL of what is paid for. */
  readonly resource: string;
  /** Holds the token, and gives it to payers; without it the token's owner mints. */
  readonly payerKey: string | undefined;
  /** Gas accounts beside those that `supported` names. */
  readonly signers: readonly string[];
  readonly canMoveClock: boolean;
}

export const usage = `npm run conformance [-- --facilitator URL --rpc URL …]
  Without --facilitator: starts Farebox and the reference facilitator here and checks both.
  --facilitator URL  base URL below which verify, settle and supported are found
  --rpc URL          its chain: a node with anvil's methods
  --payer KEY        private key of an account that holds the token; without it the token's owner mints
  --asset ADDRESS    token           } left out: taken from GET {facilitator}/payment-required
  --pay-to ADDRESS   payee           }
  --amount UNITS     atomic units, default 10000
  --resource URL     what is paid for
  --signers A,B      gas accounts, where supported does not name them
  --move-clock       the chain's clock may be set forward for good
  --only PREFIX      checks whose id begins so
  --out FILE         write the report there, too`;

const flags = {
  facilitator: { type: "string" },
  rpc: { type: "string" },
  payer: { type: "string" },
  asset: { type: "string" },
  "pay-to": { type: "string" },
  amount: { type: "string" },
  resource: { type: "string" },
  signers: { type: "string" },
  "move-clock": { type: "boolean", default: false },
  only: { type: "string", default: "" },
  out: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

export interface Options {
  readonly foreign: Foreign | null;
  readonly only: string;
  readonly out: string | undefined;
}

export async function readOptions(args: readonly string[]): Promise<Options | "help"> {
  const { values } = parseArgs({ args: [...args], options: flags });
  if (values.help) return "help";
  const { only, out, facilitator } = values;
  if (!facilitator) return { foreign: null, only, out };
  if (!values.rpc) throw new Error("--rpc is needed: what happened is read from the chain");
  const offered = await offeredBy(facilitator);
  const asset = values.asset ?? offered?.asset;
  const payTo = values["pay-to"] ?? offered?.payTo;
  if (!asset || !payTo) throw new Error("--asset and --pay-to are needed: this facilitator offers nothing");
  const foreign = {
    facilitator,
    rpcUrl: values.rpc,
    asset,
    payTo,
    amount: values.amount ?? offered?.amount ?? "10000",
    resource: values.resource ?? offered?.url ?? "https://merchant.example.com/conformance",
    payerKey: values.payer,
    signers: values.signers?.split(",").filter(Boolean) ?? [],
    canMoveClock: values["move-clock"],
  };
  return { foreign, only, out };
}

interface Required {
  readonly resource?: { readonly url: string };
  readonly accepts?: readonly { readonly asset: string; readonly payTo: string; readonly amount: string }[];
}

/** What a base URL of one resource says of itself, if it does. */
async function offeredBy(facilitator: string) {
  const response = await fetch(`${facilitator.replace(/\/+$/, "")}/payment-required`).catch(() => null);
  if (!response?.ok) return null;
  const { resource, accepts } = (await response.json()) as Required;
  const [option] = accepts ?? [];
  return option ? { ...option, url: resource?.url } : null;
}
