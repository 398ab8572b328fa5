import type { Product } from "../../catalog/schema.ts";
import { listProducts } from "../../catalog/verbs/find.ts";
import type { MerchantCtx } from "../../http/context.ts";

const MOST = 200;

/** The newest products that are for sale, to choose from. */
export async function productOptions(ctx: MerchantCtx): Promise<readonly Product[]> {
  const found = await listProducts({ ctx, input: { active: "true", limit: MOST, after: null } });
  return found.slice(0, MOST);
}

/** The same for a choice, with what one costs; the first chooses none. */
export function choicesOf(
  products: readonly Product[],
  none: string,
): readonly (readonly [value: string, name: string])[] {
  const named = products.map(
    ({ id, name, prices }) => [id, `${name} (${prices.map(({ display }) => display).join(", ")})`] as const,
  );
  return [["", none], ...named];
}
