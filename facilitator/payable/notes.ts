import { checksum } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import { isDefaultAsset } from "./default-assets.ts";
import type { PaymentOption } from "./payable.ts";
import type { ListingWarning } from "./tables.ts";
import type { Trust } from "./trust.ts";

/** What a default client pays at most, in atomic units of a dollar coin. Source: x402.md §10. */
const DEFAULT_CAP = 1_000_000n;
const DOLLAR_DECIMALS = 6;

/** What an agent should know before it signs: in words of ours, none of the merchant's. */
export function clientNotes(options: readonly PaymentOption[], trust: Trust): string[] {
  return [...warnings(trust), ...spendNotes(options)];
}

const changed: Readonly<Record<ListingWarning, string>> = {
  "pay-to-not-ours":
    "Warning: at our last visit its server asked to be paid at an address that is not ours. Such a payment is not settled here and not covered by our records.",
  "target-changed":
    "Warning: its server names another resource than when it was registered. Read what it offers before you pay.",
  "schema-changed":
    "Warning: its server declares another input schema than when it was registered. Read it before you pay.",
};

function warnings({ warning, isLookAlike, lastProbe }: Trust): string[] {
  return [
    ...(warning === null ? [] : [changed[warning]]),
    ...(isLookAlike
      ? ["Warning: its name looks like that of another merchant whose host is verified; this one's is not."]
      : []),
    ...(lastProbe && !lastProbe.ok && warning === null
      ? ["It did not answer our last unpaid request as registered: ask the URL itself before you sign."]
      : []),
  ];
}

/** What stands between the first option and a client with default settings. */
function spendNotes([first]: readonly PaymentOption[]): string[] {
  if (!first) return ["No network here can be paid on at the moment. Ask again later."];
  const { network, asset, amount } = first;
  if (!isDefaultAsset(network, asset)) {
    const entry = JSON.stringify({
      network,
      asset: checksum(asset),
      maxAmountPerPayment: amount.toString(),
    });
    return [`x402 clients refuse this asset by default: set spendControls {allowedAssets: [${entry}]}.`];
  }
  if (amount <= DEFAULT_CAP) return [];
  const dollars = formatDecimal(amount, DOLLAR_DECIMALS).replace(/(\.\d\d\d*?)0*$/, "$1");
  return [
    `Above the $1 that x402 clients pay by default: set spendControls {maxAmountPerPayment: "$${dollars}"}.`,
  ];
}
