import { isId } from "#kernel/id";
import type { Payable, PaymentOption } from "./payable.ts";

const prefixes = ["plink", "inv", "pi"] as const;

/** Whether an id is of something that is paid at an agent URL of ours, and not at a merchant's own endpoint. */
export function hasAgentUrl(id: string): boolean {
  return prefixes.some((prefix) => isId(prefix, id));
}

/** Where an agent pays such a thing. */
export function agentUrl(baseUrl: string, id: string): string {
  return `${baseUrl}/x402/payables/${id}`;
}

interface Asked {
  readonly payable: Pick<Payable, "kind">;
  readonly options: readonly PaymentOption[];
}

/** Whether it says itself what it costs. Who names an amount for such a thing is refused: who names less must not be
 *  charged the whole by a client that pays whatever it is asked for. An intent may be what an amount was named for. */
export function namesItsPrice({ payable: { kind }, options }: Asked): boolean {
  return kind === "invoice" || (kind === "payment-link" && options.length > 0);
}
