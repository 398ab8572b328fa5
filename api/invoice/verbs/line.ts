import { parseAmount, presentAmount } from "../../http/money.ts";
import type { Invoice } from "../schema.ts";

/** What a line comes to. Pure. */
export function lineTotal({ unitPrice, quantity }: Invoice["lines"][number]): Invoice["total"] {
  const { amount, asset } = parseAmount(unitPrice, "");
  return presentAmount({ amount: amount * BigInt(quantity), asset });
}
