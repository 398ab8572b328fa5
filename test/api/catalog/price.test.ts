import { describe, expect, it } from "vitest";
import type { Fault } from "#kernel/fault";
import type { ProductRow } from "../../../api/catalog/verbs/find.ts";
import { priceLines } from "../../../api/catalog/verbs/price.ts";
import { newId, now } from "../world.ts";

function product(change: Partial<ProductRow> = {}): ProductRow {
  const id = newId("prod");
  const stamps = { createdAt: now, updatedAt: now, version: 1 };
  const words = { merchantId: "mer_x", sku: id, name: "Tea", description: null, metadata: {} };
  return { ...words, ...stamps, id, active: true, prices: [{ amount: 1_050n, asset: "USD" }], ...change };
}
const shelf = (...products: readonly ProductRow[]) => new Map(products.map((each) => [each.id, each]));
function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    return error as Fault;
  }
  throw new Error("nothing was refused");
}

describe("priceLines", () => {
  it("multiplies and adds in whole cents; the same product twice counts twice", () => {
    const [tea, cup] = [product(), product({ name: "Cup", prices: [{ amount: 333n, asset: "USD" }] })];
    const lines = [
      { productId: tea.id, quantity: 3 },
      { productId: cup.id, quantity: 9_999 },
      { productId: tea.id, quantity: 1 },
    ];
    const priced = priceLines(shelf(tea, cup), "USD", lines);
    expect(priced.total).toEqual({ amount: 3_150n + 3_329_667n + 1_050n, asset: "USD" });
    expect(priced.lines[1]).toEqual({
      productId: cup.id,
      name: "Cup",
      unitPrice: { amount: 333n, asset: "USD" },
      quantity: 9_999,
      total: { amount: 3_329_667n, asset: "USD" },
    });
  });

  it("takes the price of the currency asked in, and converts nothing", () => {
    const tea = product({
      prices: [
        { amount: 1_050n, asset: "USD" },
        { amount: 900n, asset: "JPY" },
      ],
    });
    expect(priceLines(shelf(tea), "JPY", [{ productId: tea.id, quantity: 2 }]).total).toEqual({
      amount: 1_800n,
      asset: "JPY",
    });
  });

  it("names the line that cannot be priced, and why", () => {
    const [tea, gone] = [product(), product({ active: false })];
    const at = (second: string, currency = "USD") =>
      faultOf(() =>
        priceLines(shelf(tea, gone), currency, [
          { productId: tea.id, quantity: 1 },
          { productId: second, quantity: 1 },
        ]),
      );
    expect(at(newId("prod"))).toMatchObject({
      code: "product_not_found",
      context: { pointer: "/lines/1/productId" },
    });
    expect(at(gone.id)).toMatchObject({
      code: "product_inactive",
      context: { pointer: "/lines/1/productId" },
    });
    expect(at(tea.id, "EUR")).toMatchObject({
      code: "price_missing",
      context: { pointer: "/lines/0/productId" },
    });
    expect(at(tea.id, "XXX")).toMatchObject({
      code: "currency_unsupported",
      context: { pointer: "/currency" },
    });
  });
});
