import type { PricedLine } from "../catalog/verbs/price.ts";
import { presentAmount } from "../http/money.ts";
import type { PricedCart } from "./schema.ts";

export function presentCart({
  lines,
  total,
}: {
  readonly lines: readonly PricedLine[];
  readonly total: PricedLine["total"];
}): PricedCart {
  return {
    lines: lines.map((line) => ({
      ...line,
      unitPrice: presentAmount(line.unitPrice),
      total: presentAmount(line.total),
    })),
    total: presentAmount(total),
  };
}
