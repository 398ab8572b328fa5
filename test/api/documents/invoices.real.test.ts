/** Invoices as they are printed: short, long and listed ones, and who may have them. */
import { describe, expect, it } from "vitest";
import { sharedWorld, until } from "../../support/house.ts";
import { newSeller, sendTo, sharedSeller } from "../../support/payments.ts";
import { pagesOfPdf, photographPdf } from "../../support/pdf.ts";
import { expectAtRest } from "../../support/scene.ts";
import { openSession } from "../dashboard/room.ts";
import { untilSucceeded } from "../refund/paid.ts";
import { anybodyAt, jsonOf, pdfOf } from "./documents.ts";

const world = sharedWorld();
const seller = sharedSeller(world);
const anybody = anybodyAt(world);

describe("an invoice", () => {
  const bill = {
    buyer: { name: "Ada Example", email: "ada@example.com", taxId: "PT 123", address: "1 Rua Nova, Porto" },
    currency: "USD",
    lines: [
      { name: "Green tea, 100 g", unitPrice: { amount: "12.50", asset: "USD" }, quantity: 3 },
      { name: "Parcel", unitPrice: { amount: "4.99", asset: "USD" }, quantity: 1 },
    ],
    notes: "Thank you.",
  };

  it("is printed with every figure, before it is issued, open, and paid", async () => {
    const draft = await seller.must("POST", "/v1/invoices", bill);
    expect((await pdfOf(seller, `/v1/invoices/${draft.id}/invoice.pdf`)).text).toContain("DRAFT");
    const issued = await seller.must("POST", `/v1/invoices/${draft.id}/issue`);
    const open = await pdfOf(seller, `/v1/invoices/${draft.id}/invoice.pdf`);
    for (const word of [
      issued.number,
      ...Object.values(bill.buyer),
      ...[
        "Description Quantity Unit price Amount",
        "Green tea, 100 g",
        "12.50 USD",
        "37.50 USD",
        "4.99 USD",
        "42.49 USD",
        "Thank you.",
        issued.url,
      ],
    ])
      expect(open.text).toContain(word);
    expect(open.text).toMatch(/Amount due 42[.]49 USD/);
    const again = await pdfOf(seller, `/v1/invoices/${draft.id}/invoice.pdf`);
    expect(Buffer.compare(again.bytes, open.bytes)).toBe(0);
    await photographPdf(open.bytes, "invoice-open");
    // its payment prints the same invoice, now paid
    const { id } = await seller.must("POST", `/v1/invoices/${draft.id}/checkout`, {});
    const { deposit } = await seller.confirm(id);
    await sendTo(world, deposit.address, 42_490_000n);
    await seller.reaches(id, "settled");
    const isPaid = async () => (await seller.must("GET", `/v1/invoices/${draft.id}`)).state === "paid";
    await until(isPaid, "the invoice is paid");
    // and so does the page's copy, for who paid
    for (const path of [`/checkout/${id}/invoice.pdf`, `/invoices/${draft.id}/invoice.pdf`])
      expect((await pdfOf(anybody, path)).text).toContain(bill.buyer.taxId);
    expect((await pdfOf(anybody, `/checkout/${id}/receipt.pdf`)).text).toContain("42.49 USD");
    // none of which stays in a cache on the way
    for (const path of [`/checkout/${id}/invoice.pdf`, `/checkout/${id}/receipt.pdf`])
      expect((await anybody.call(path)).headers.get("cache-control")).toBe("no-store, private");
    const paid = await pdfOf(seller, `/v1/payments/${id}/invoice.pdf`);
    expect(paid.text).toContain(issued.number);
    expect(paid.text).toContain("PAID");
    await photographPdf(paid.bytes, "invoice-paid-pdf");
    expect(paid.text).not.toContain("Amount due");
  });

  it("names its seller by tax id and address, as they were when it was issued; a draft as they are", async () => {
    const shop = await newSeller(world);
    const { id } = await shop.must("POST", "/v1/invoices", bill);
    const path = `/v1/invoices/${id}/invoice.pdf`;
    expect((await pdfOf(shop, path)).text).not.toContain("Billed by");
    await shop.must("PATCH", "/v1/merchant", { taxId: "GB123456789", address: "7 Mill Lane\nLeeds LS1" });
    const whole = /Billed by Name .* Tax id GB123456789 Address 7 Mill Lane Leeds LS1 Billed to Name Ada/;
    expect((await pdfOf(shop, path)).text).toMatch(whole);
    const { url } = await shop.must("POST", `/v1/invoices/${id}/issue`);
    await shop.must("PATCH", "/v1/merchant", { taxId: "GB999999999", address: null });
    const { bytes, text } = await pdfOf(anybody, `/invoices/${id}/invoice.pdf`);
    expect(text).toMatch(whole);
    await photographPdf(bytes, "invoice-seller");
    const page = await (await fetch(url, { headers: { Accept: "text/html" } })).text();
    for (const word of ["GB123456789", "7 Mill Lane\nLeeds LS1"]) expect(page).toContain(word);
  });

  it("that was given up says so, and what can still be paid", async () => {
    const { id, url } = await seller.must("POST", "/v1/invoices", { ...bill, issue: true });
    await seller.must("POST", `/v1/invoices/${id}/mark-uncollectible`);
    const { text } = await pdfOf(anybody, `/invoices/${id}/invoice.pdf`);
    expect(text).toMatch(/UNCOLLECTIBLE.*Total 42[.]49 USD Amount due 42[.]49 USD/);
    expect(text).toContain(url);
    const page = await (await fetch(url, { headers: { Accept: "text/html" } })).text();
    expect(page).toContain("written off as uncollectible");
    expect(page).toContain("$42.49");
  });
});

describe("an invoice that was paid and given back", () => {
  const total = "Total 10.00 USD Paid so far 10.00 USD";

  async function paid() {
    const lines = [{ name: "Tea", unitPrice: { amount: "5.00", asset: "USD" }, quantity: 2 }];
    const bill = { buyer: { name: "Ada" }, currency: "USD", lines, issue: true };
    const invoice = await seller.must("POST", "/v1/invoices", bill);
    const { id } = await seller.must("POST", `/v1/invoices/${invoice.id}/checkout`, {});
    const { deposit } = await seller.confirm(id);
    await sendTo(world, deposit.address, 10_000_000n);
    await seller.reaches(id, "settled");
    await untilLeft(invoice.id, "10.00");
    await expectAtRest(world);
    return { invoice, id };
  }

  async function untilLeft(id: string, amount: string) {
    const isLeft = async () => (await seller.must("GET", `/v1/invoices/${id}`)).paid.amount === amount;
    await until(isLeft, `${amount} is left of it`);
  }

  const refund = (id: string, amount: string) =>
    seller.must("POST", `/v1/payments/${id}/refunds`, { amount: { amount, asset: "USD" } });
  const printed = (id: string) => pdfOf(anybody, `/invoices/${id}/invoice.pdf`);
  const pageOf = async (url: string) => (await fetch(url, { headers: { Accept: "text/html" } })).text();

  it("says how much of it, once that has arrived, and that it is refunded when all of it has", async () => {
    const { invoice, id } = await paid();
    const first = await refund(id, "4.00");
    await untilLeft(invoice.id, "6.00");
    expect((await printed(invoice.id)).text).toMatch(`${total} Refund under way 4.00 USD`);
    await untilSucceeded(world, seller, first.id);
    const part = await printed(invoice.id);
    expect(part.text).toMatch(/^Invoice PARTLY REFUNDED /);
    expect(part.text).toMatch(`${total} Refunded 4.00 USD`);
    expect(part.text).not.toMatch(/under way|Amount due|Pay here/);
    await photographPdf(part.bytes, "invoice-partly-refunded");
    const page = await pageOf(invoice.url);
    expect(page).toContain("Partly refunded");
    expect(page).toContain("<dt>Refunded</dt><dd>$4.00</dd>");
    const { get } = await openSession(
      (path, init) => fetch(`${world.baseUrl}${path}`, init),
      seller.secretKey,
    );
    const { text: board } = await get(`/dashboard/invoices/${invoice.id}`);
    expect(board).toMatch(/<dt>Paid<\/dt><dd>.*\$10[.]00.*<dt>Refunded<\/dt><dd>.*\$4[.]00/s);
    const { text: list } = await get("/dashboard/invoices");
    const [, listed = ""] = new RegExp(`invoices/${invoice.id}"(.*?)</tr>`, "s").exec(list) ?? [];
    expect(listed).toMatch(/\$10[.]00.*\$6[.]00/s);
    const rest = await refund(id, "6.00");
    await untilSucceeded(world, seller, rest.id);
    const all = await printed(invoice.id);
    expect(all.text).toMatch(/^Invoice REFUNDED /);
    expect(all.text).toMatch(`${total} Refunded 10.00 USD`);
    expect(all.text).not.toContain("PAID");
    await photographPdf(all.bytes, "invoice-refunded");
    expect(await pageOf(invoice.url)).toContain("<dt>Refunded</dt><dd>$10.00</dd>");
  });
});

describe("a long invoice", () => {
  it("keeps the lines of an address and of notes, and says on each page what it is a page of", async () => {
    const lines = Array.from({ length: 60 }, (_, i) => ({
      name: `Tea of garden ${i + 1}`,
      unitPrice: { amount: "2.00", asset: "USD" },
      quantity: 1,
    }));
    const { id, number } = await seller.must("POST", "/v1/invoices", {
      buyer: { name: "Ada Example", address: "1 Rua Nova\n4000-001 Porto\nPortugal" },
      ...{ currency: "USD", lines, issue: true },
      notes: "Thank you.\n\nGoods stay ours\nuntil they are paid.",
    });
    const { bytes } = await pdfOf(seller, `/v1/invoices/${id}/invoice.pdf`);
    await photographPdf(bytes, "invoice-long");
    const pages = await pagesOfPdf(bytes);
    expect(pages.length).toBeGreaterThan(1);
    for (const [i, page] of pages.entries())
      expect(page.at(-1)).toBe(`Invoice ${number} Page ${i + 1} of ${pages.length}`);
    const head = "Description Quantity Unit price Amount";
    for (const page of pages.filter((each) => each.some((line) => line.startsWith("Tea"))))
      expect(page.filter((line) => line === head || line.startsWith("Tea")).indexOf(head)).toBe(0);
    const all = pages.flat();
    expect(all.filter((line) => line.startsWith("Tea"))).toHaveLength(60);
    const address = all.indexOf("Address 1 Rua Nova");
    expect(all.slice(address + 1, address + 3)).toEqual(["4000-001 Porto", "Portugal"]);
    const notes = all.indexOf("Thank you.");
    expect(all.slice(notes + 1, notes + 3)).toEqual(["Goods stay ours", "until they are paid."]);
  });
});

describe("a listed invoice", () => {
  it("tells nobody but its merchant who is billed", async () => {
    const buyer = { name: "Ada Example", email: "ada@example.com" };
    const lines = [{ name: "Tea", unitPrice: { amount: "12.50", asset: "USD" }, quantity: 1 }];
    const made = await seller.must("POST", "/v1/invoices", {
      buyer,
      currency: "USD",
      lines,
      notes: "For Ada.",
      issue: true,
    });
    await seller.must("POST", `/v1/invoices/${made.id}/list`);
    const { id } = await seller.must("POST", `/v1/invoices/${made.id}/checkout`, {});
    // also when it is not listed any more: whoever found the address may have kept it
    for (const word of ["list", "unlist", "void"]) {
      await seller.must("POST", `/v1/invoices/${made.id}/${word}`);
      for (const path of [`/invoices/${made.id}/invoice.pdf`, `/checkout/${id}/invoice.pdf`]) {
        const { text } = await pdfOf(anybody, path);
        expect(text).toContain("12.50 USD");
        expect(text).not.toContain("Ada");
      }
    }
    expect((await pdfOf(seller, `/v1/invoices/${made.id}/invoice.pdf`)).text).toContain("Ada Example");
  });

  it("nor who paid: the buyer pays what a stranger was given the address of", async () => {
    const lines = [{ name: "Tea", unitPrice: { amount: "12.50", asset: "USD" }, quantity: 1 }];
    const bill = { buyer: { name: "Jane Private" }, currency: "USD", lines, issue: true };
    const made = await seller.must("POST", "/v1/invoices", bill);
    await seller.must("POST", `/v1/invoices/${made.id}/list`);
    const headers = { "Content-Type": "application/json", "Idempotency-Key": "a stranger's" };
    const init = { method: "POST", headers, body: "{}" };
    const { id, customer } = await jsonOf(
      { call: (path) => fetch(`${world.baseUrl}${path}`, init) },
      `/v1/invoices/${made.id}/checkout`,
    );
    expect(customer).toBeNull();
    const { deposit } = await seller.confirm(id);
    const { payer } = await sendTo(world, deposit.address, 12_500_000n);
    await seller.reaches(id, "settled");
    const telling = new RegExp(`Jane|${payer.address}`, "i");
    for (const word of ["list", "unlist"]) {
      await seller.must("POST", `/v1/invoices/${made.id}/${word}`);
      const { text } = await pdfOf(anybody, `/checkout/${id}/receipt.pdf`);
      expect(text).toContain("12.50 USD");
      expect(text).not.toMatch(telling);
    }
    const { text } = await pdfOf(seller, `/v1/payments/${id}/receipt.pdf`);
    expect(text).toContain("Jane Private");
    expect(text.toLowerCase()).toContain(payer.address.toLowerCase());
  });
});
