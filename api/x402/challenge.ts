import type { PaymentOption, Quote } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { presentRequired } from "./present.ts";
import type { PaymentRequired } from "./schema.ts";
import type { V1Networks } from "./v1.ts";

/** What an unpaid request is told, in both versions: v2 in the header, v1 in the body. */
export interface Challenge {
  readonly required: PaymentRequired & { readonly error: string };
  /** Empty where no chain of the offer has a name in v1. */
  readonly v1: V1Required | Readonly<Record<never, never>>;
}
interface V1Required {
  readonly x402Version: 1;
  readonly error: string;
  readonly accepts: readonly Readonly<Record<string, unknown>>[];
}

/** `error` is a reason code or a sentence, and never left out: some clients of v1 read no 402 without it. Source: x402.md
 *  §2, §7. */
export function challenge(offer: Quote, networks: V1Networks, error = "Payment required"): Challenge {
  const accepts = onePerNetwork(offer.options).flatMap((option) => {
    const network = networks.toName(option.network);
    return network === option.network ? [] : [v1Option(offer, option, network)];
  });
  return {
    required: { ...presentRequired(offer), error },
    v1: accepts.length === 0 ? {} : { x402Version: 1, error, accepts },
  };
}

/** A v1 payment does not say which token it is in, so each network offers one. */
function onePerNetwork(options: readonly PaymentOption[]): readonly PaymentOption[] {
  return options.filter(({ network }, i) => options.findIndex((other) => other.network === network) === i);
}

function v1Option({ payable }: Quote, option: PaymentOption, network: string) {
  return {
    scheme: option.scheme,
    network,
    maxAmountRequired: option.amount.toString(),
    resource: payable.url,
    description: payable.description,
    mimeType: payable.mimeType,
    payTo: checksum(option.payTo),
    maxTimeoutSeconds: option.maxTimeoutSeconds,
    asset: checksum(option.asset),
    extra: { name: option.domain.name, version: option.domain.version },
  };
}
