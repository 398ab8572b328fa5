/** Payments with documents, and their documents as they come over HTTP. */
import { expect } from "vitest";
import type { World } from "../../support/house.ts";
import { routeOrder, type Seller, sendTo } from "../../support/payments.ts";
import { textOfPdf } from "../../support/pdf.ts";

/** Who asks: a merchant with a key, or anybody. */
type Call = (path: string) => Promise<Response>;
export async function pdfOf(who: { readonly call: Call }, path: string) {
  const response = await who.call(path);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/pdf"]);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(new TextDecoder("latin1").decode(bytes.subarray(0, 5))).toBe("%PDF-");
  return { bytes, text: await textOfPdf(bytes) };
}
// biome-ignore lint/suspicious/noExplicitAny: an answer off the wire
export const jsonOf = async (who: { readonly call: Call }, path: string): Promise<any> =>
  (await who.call(path)).json();

/** Who has no key, and holds an address: with a client that asks every path for JSON. */
export const anybodyAt = (world: World) => ({
  call: (path: string) => fetch(`${world.baseUrl}${path}`, { headers: { accept: "application/json" } }),
});

/** A payment of 49.99 that is settled, and how it was paid. */
export async function settledBy(
  { world, seller }: { readonly world: World; readonly seller: Seller },
  by: "deposit-match" | "on-chain-contract",
  over: Record<string, unknown> = {},
) {
  const position = await seller.asked({
    amount: { amount: "49.99", asset: "USD" },
    executionPath: by,
    ...over,
  });
  const paid =
    by === "deposit-match"
      ? await sendTo(world, position.deposit.address, 49_990_000n)
      : await routeOrder(world, position);
  const { id } = position.paymentIntent;
  return { id, paid, position: await seller.reaches(id, "settled") };
}
