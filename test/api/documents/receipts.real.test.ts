/** Receipts of payments that were made on a chain, and what proves them. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { problemOf } from "../../../api/documents/proof.ts";
import { newKey } from "../../support/authorization.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { movableClock, newSeller, sendTo, sharedSeller } from "../../support/payments.ts";
import { photographPdf } from "../../support/pdf.ts";
import { png } from "../../support/png.ts";
import { programs } from "../../support/programs.ts";
import { expectAtRest } from "../../support/scene.ts";
import { paidMerchant, untilSucceeded } from "../refund/paid.ts";
import { anybodyAt, jsonOf, pdfOf, settledBy } from "./documents.ts";

const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);
const anybody = anybodyAt(world);

const settled = (by: Parameters<typeof settledBy>[1], over?: Record<string, unknown>) =>
  settledBy({ world, seller }, by, over);

describe.each(["deposit-match", "on-chain-contract"] as const)("the receipt of a %s payment", (path) => {
  it("holds every figure of the payment and of the transfer that paid it, and is the same each time", async () => {
    const { id, paid, position } = await settled(path, {
      merchantReference: "order 1042",
      customer: { name: "Ada Example" },
    });
    const { bytes, text } = await pdfOf(seller, `/v1/payments/${id}/receipt.pdf`);
    const { proof, digest, publicKey } = await jsonOf(seller, `/v1/payments/${id}/proof.json`);
    for (const word of [
      "PAID",
      "49.99 USD",
      "49.99 USDC on local",
      "0.24995 USDC",
      "49.74005 USDC",
      "1 USD = 1 USDC (parity)",
      "order 1042",
      "Ada Example",
      id,
      position.clearing.id,
      paid.txHash,
      paid.payer.address,
      proof.transfers[0].blockHash,
      proof.transfers[0].to,
      proof.ledgerEntryId,
      "eip155:31337",
      digest,
      publicKey,
      `/checkout/${id}`,
    ])
      expect(text.replaceAll(" ", "").toLowerCase()).toContain(
        String(word).replaceAll(" ", "").toLowerCase(),
      );
    const again = await pdfOf(seller, `/v1/payments/${id}/receipt.pdf`);
    expect(Buffer.compare(again.bytes, bytes)).toBe(0);
    await photographPdf(bytes, `receipt-${path}`);
  });
});

describe("the receipt of a payment that was given back in part", () => {
  it("holds each refund with its amount and where it stands", async () => {
    const logo = `data:image/png;base64,${png({ width: 120, height: 40, colourType: 6, value: 90 }).toString("base64")}`;
    const shop = await newSeller(world);
    await shop.must("PATCH", "/v1/merchant", { brandColour: "#7a1f5c", logo, timeZone: "Asia/Tokyo" });
    const position = await shop.asked({ amount: { amount: "49.99", asset: "USD" } });
    await sendTo(world, position.deposit.address, 49_990_000n);
    const { id } = position.paymentIntent;
    await shop.reaches(id, "settled");
    await expectAtRest(world);
    const refunds = [];
    for (const amount of ["4.00", "5.25"])
      refunds.push(
        await shop.must("POST", `/v1/payments/${id}/refunds`, { amount: { amount, asset: "USD" } }),
      );
    for (const each of refunds) await untilSucceeded(world, shop, each.id);
    const { bytes, text } = await pdfOf(shop, `/v1/payments/${id}/receipt.pdf`);
    expect(text).toMatch(
      /^PARTLY REFUNDED Receipt .* Amount 49[.]99 USD Refunded 9[.]25 USDC of 49[.]99 USDC /,
    );
    for (const word of [
      "4.00 USDC",
      "5.25 USDC",
      "succeeded",
      "Asia/Tokyo",
      ...refunds.map((each) => each.id),
    ])
      expect(text).toContain(word);
    const again = await pdfOf(shop, `/v1/payments/${id}/receipt.pdf`);
    expect(Buffer.compare(again.bytes, bytes)).toBe(0);
    await photographPdf(bytes, "receipt-branded");
  });

  it("says that it was refunded when all of it was, and so does its payment request", async () => {
    const { id } = await settled("deposit-match");
    await expectAtRest(world);
    const { id: refundId } = await seller.must("POST", `/v1/payments/${id}/refunds`, {});
    const documents = ["receipt.pdf", "invoice.pdf"].map((file) => `/checkout/${id}/${file}`);
    for (const path of documents)
      expect((await pdfOf(anybody, path)).text).toMatch(/^(Receipt|Payment request) PAID /);
    await untilSucceeded(world, seller, refundId);
    for (const path of documents) {
      const { bytes, text } = await pdfOf(anybody, path);
      expect(text).toMatch(/^(Receipt|Payment request) REFUNDED .* Refunded 49[.]99 USDC of 49[.]99 USDC /);
      expect(text).not.toContain("PAID");
      await photographPdf(bytes, `refunded-${path.split("/").at(-1)?.slice(0, -4)}`);
    }
  });
});

describe("the settlement proof", () => {
  it("names the log that the chain has, and the entry that the books have", async () => {
    const { id, paid } = await settled("deposit-match");
    const signed = await jsonOf(seller, `/v1/payments/${id}/proof.json`);
    const receipt = await world.dev.anvil.rpc<{ blockHash: string; logs: { logIndex: string }[] }>(
      "eth_getTransactionReceipt",
      [paid.txHash],
    );
    expect(signed.proof).toMatchObject({
      amount: { amount: "49.99", asset: "USD" },
      settlementAmount: { amount: "49.990000", asset: "USDC" },
      fee: { amount: "0.249950", asset: "USDC" },
      netAmount: { amount: "49.740050", asset: "USDC" },
      transfers: [
        {
          transactionHash: paid.txHash,
          blockHash: receipt.blockHash,
          logIndex: Number(receipt.logs[0]?.logIndex),
          amount: "49990000",
        },
      ],
    });
    const entries = await jsonOf(seller, "/v1/ledger/entries?limit=200");
    const entry = entries.find((each: { id: string }) => each.id === signed.proof.ledgerEntryId);
    expect(entry).toMatchObject({ code: "clearing-settled", subject: signed.proof.clearingTransactionId });
    const { publicKey } = await jsonOf(seller, "/.well-known/farebox-proof-key");
    expect(problemOf(signed, publicKey)).toBeNull();
  });

  it("of an agent's payment names its transfer to the treasury", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.01");
    const signed = await jsonOf(merchant, `/v1/payments/${paid.id}/proof.json`);
    expect(signed.proof.transfers).toHaveLength(1);
    expect(signed.proof.transfers[0]).toMatchObject({ amount: "10000" });
    expect(signed.proof.ledgerEntryId).toMatch(/^je_/);
    const { text } = await pdfOf(merchant, `/v1/payments/${paid.id}/receipt.pdf`);
    expect(text).toContain("Signed authorization (x402)");
  });

  it("is checked by the command without anything else, and fails when one byte was changed", async () => {
    const { id } = await settled("deposit-match");
    const text = await (await seller.call(`/v1/payments/${id}/proof.json`)).text();
    const { publicKey } = JSON.parse(text);
    expect(await verified(text, publicKey)).toMatchObject({ code: 0, out: expect.stringContaining(id) });
    const changed = text.replace("49.99", "59.99");
    expect(await verified(changed, publicKey)).toMatchObject({
      code: 1,
      out: expect.stringContaining("was changed"),
    });
    expect(await verified("no json", publicKey)).toMatchObject({ code: 1 });
  });
});

async function verified(text: string, key: string): Promise<{ readonly code: number; readonly out: string }> {
  const dir = await mkdtemp(join(tmpdir(), "farebox-proof-"));
  const file = join(dir, "proof.json");
  await writeFile(file, text);
  const args = [programs.cli, "proof", "verify", file, "--key", key];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout } = error as { readonly code: number; readonly stdout: string };
    return { code, out: stdout };
  } finally {
    await rm(dir, { recursive: true });
  }
}

describe("before a payment is completed", () => {
  it("409 receipt_not_available; its payment request is drawn from the intent", async () => {
    const { id } = await seller.intent({
      merchantReference: "order 7",
      customer: { email: "ada@example.com" },
    });
    expect((await anybody.call(`/checkout/${id}/receipt.pdf`)).status).toBe(409);
    expect((await anybody.call(`/checkout/${id.slice(0, -1)}_/receipt.pdf`)).status).toBe(404);
    for (const file of ["receipt.pdf", "proof.json"]) {
      const refused = await seller.ask("GET", `/v1/payments/${id}/${file}`);
      expect([refused.status, refused.body.code]).toEqual([409, "receipt_not_available"]);
      expect(refused.body.detail).toContain("created");
    }
    const { text } = await pdfOf(seller, `/v1/payments/${id}/invoice.pdf`);
    for (const word of ["Payment request", "10.00 USD", "order 7", "ada@example.com", `/checkout/${id}`])
      expect(text).toContain(word);
    expect(text).not.toContain("PAID");
    expect(text).toContain("Pay here");
    expect(text).toMatch(/Amount due .* Due 10[.]00 USD/);
    await seller.cancel(id);
    await expectAsksForNothing(id, "CANCELLED");
  });

  it("a payment request asks for money as long as it can be paid", async () => {
    const { id } = await seller.intent({ expiresInSeconds: 300 });
    const { deposit } = await seller.confirm(id);
    expect((await pdfOf(anybody, `/checkout/${id}/invoice.pdf`)).text).toContain("Pay here");
    await sendTo(world, deposit.address, 10_000_000n);
    await seller.reaches(id, "settled");
    const { text } = await pdfOf(anybody, `/checkout/${id}/invoice.pdf`);
    expect(text).toMatch(/PAID.* Due 0[.]00 USD/);
    expect(text).not.toMatch(/Pay here|Amount due/);
    const { id: late } = await seller.intent();
    await world.database.query(
      "UPDATE payment_intent SET status = 'expired' WHERE id = $1 AND status = 'created'",
      [late],
    );
    await expectAsksForNothing(late, "EXPIRED");
  });

  async function expectAsksForNothing(id: string, stamp: string) {
    for (const path of [`/v1/payments/${id}/invoice.pdf`, `/checkout/${id}/invoice.pdf`]) {
      const { text } = await pdfOf(seller, path);
      expect(text).toContain(stamp);
      expect(text).toContain("10.00 USD");
      expect(text).not.toMatch(/Pay here|\bdue\b/i);
      expect(text).not.toContain(`/checkout/${id}`);
    }
  }

  it("prints what people wrote as text, in scripts of their own, and nothing that turns a line around", async () => {
    const { id } = await seller.intent({
      merchantReference: "Ελληνικά Кириллица ÅÄÖ (50%) \u202egnp.exe",
      customer: { name: "<script>alert(1)</script>O'Neil" },
    });
    const { text } = await pdfOf(seller, `/v1/payments/${id}/invoice.pdf`);
    expect(text).toContain("Ελληνικά Кириллица ÅÄÖ (50%) gnp.exe");
    expect(text).toContain("O'Neil");
    expect(text).not.toContain("<script>");
  });

  it("prints names in Chinese, Japanese and Korean", async () => {
    const { id } = await seller.intent({ customer: { name: "山田太郎 · 王小明 · 김철수" } });
    const { text } = await pdfOf(seller, `/v1/payments/${id}/invoice.pdf`);
    expect(text).toContain("For 山田太郎 · 王小明 · 김철수");
  });

  it("404 for another merchant's", async () => {
    const { id } = await seller.intent();
    const stranger = await newSeller(world);
    for (const file of ["receipt.pdf", "proof.json", "invoice.pdf"])
      expect((await stranger.ask("GET", `/v1/payments/${id}/${file}`)).status).toBe(404);
  });
});

describe("the receipt of a cart", () => {
  it("names each line, and how deep its money lay when it was settled", async () => {
    const product = { sku: "mug", name: "Blue mug", prices: [{ amount: "6.25", asset: "USD" }] };
    const { id: productId } = await seller.must("POST", "/v1/catalog/products", product);
    const cart = { kind: "cart", currency: "USD", lines: [{ productId, quantity: 2 }] };
    const link = await seller.must("POST", "/v1/payment-links", cart);
    const { id } = await seller.must("POST", `/v1/payment-links/${link.id}/checkout`, {});
    const { deposit } = await seller.confirm(id);
    await sendTo(world, deposit.address, 12_500_000n);
    await seller.reaches(id, "settled");
    const { bytes, text } = await pdfOf(anybody, `/checkout/${id}/receipt.pdf`);
    expect(text).toContain("Blue mug 2 6.25 USD 12.50 USD");
    expect(text).not.toContain("Total of the lines");
    expect(text).toContain(`Confirmations ${deposit.required} or more when it was settled`);
    await photographPdf(bytes, "receipt-cart");
  });

  it("an invoice's lines stand on the receipt of what pays it", async () => {
    const lines = [{ name: "Tea", unitPrice: { amount: "12.50", asset: "USD" }, quantity: 2 }];
    const bill = { buyer: { name: "Ada" }, currency: "USD", lines, issue: true };
    const made = await seller.must("POST", "/v1/invoices", bill);
    const { id } = await seller.must("POST", `/v1/invoices/${made.id}/checkout`, {});
    const { deposit } = await seller.confirm(id);
    await sendTo(world, deposit.address, 25_000_000n);
    await seller.reaches(id, "settled");
    const { text } = await pdfOf(anybody, `/checkout/${id}/receipt.pdf`);
    expect(text).toContain("Tea 2 12.50 USD 25.00 USD");
  });
});

describe("the receipt of what was not exactly paid", () => {
  it("says how much came, and how much of it is too much, until it has gone back", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const { id } = paymentIntent;
    await sendTo(world, deposit.address, 12_340_000n);
    await seller.reaches(id, "settled");
    const receipt = async () => (await pdfOf(anybody, `/checkout/${id}/receipt.pdf`)).text;
    expect(await receipt()).toContain(
      "Received 12.34 USDC on local Counted as paid 10.00 USDC Too much 2.34 USDC, which is still the payer's",
    );
    const { address: destination } = newKey();
    expect((await seller.review(id, { action: "return", destination })).status).toBe(200);
    expect(await receipt()).toContain("Too much 2.34 USDC, sent back to the payer");
  });

  it("says how much was waived of what was accepted, and not that all was paid", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const { id } = paymentIntent;
    await sendTo(world, deposit.address, 4_000_000n);
    const isConfirmed = async () => (await seller.read(id)).deposit.deposits[0]?.status === "confirmed";
    await until(isConfirmed, "it is confirmed");
    clock.forward(32 * 60_000);
    await seller.reaches(id, "in-review");
    expect((await seller.review(id, { action: "accept" })).status).toBe(200);
    await seller.reaches(id, "settled");
    const { bytes, text } = await pdfOf(seller, `/v1/payments/${id}/receipt.pdf`);
    expect(text).not.toContain("PAID");
    for (const words of [
      "ACCEPTED",
      "Amount asked for 10.00 USD",
      "Received 4.00 USDC on local",
      "Waived 6.00 USDC",
    ])
      expect(text).toContain(words);
    await photographPdf(bytes, "receipt-accepted");
  });
});
