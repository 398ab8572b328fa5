/** What the dashboard tells of mails that did not arrive. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { smtpMailer } from "../../../api/mail/smtp.ts";
import { newKey } from "../../support/authorization.ts";
import { startWorld, until, type World } from "../../support/house.ts";
import { newSeller, type Seller, sendTo } from "../../support/payments.ts";
import { type Manner, type SmtpServer, startSmtp } from "../../support/smtp.ts";
import { issued } from "../invoice/bills.ts";
import { openSession, type Session } from "./selling.ts";

let smtp: SmtpServer;
let world: World;
let seller: Seller;
let mine: Session;
beforeAll(async () => {
  smtp = await startSmtp();
  world = await startWorld({ mail: { mailer: smtpMailer(smtp.url), from: "no-reply@pay.example" } });
});
afterAll(async () => {
  await world.stop();
  await smtp.stop();
});
beforeEach(async () => {
  smtp.manners.length = 0;
  seller = await newSeller(world);
  mine = await openSession(world.baseUrl, seller.secretKey);
});

const CARD = "Mails that did not arrive";
const cardOn = (text: string) => new RegExp(`<h2>${CARD}</h2>.*?</section>`, "s").exec(text)?.[0] ?? "";
const states = async () =>
  (
    await world.database.query<{ state: string }>(
      "SELECT CASE WHEN last_error IS NULL THEN state ELSE state || ', told why' END AS state FROM mail WHERE merchant_id = $1 ORDER BY id",
      [seller.id],
    )
  ).map(({ state }) => state);
const become = (...wanted: readonly string[]) =>
  until(async () => (await states()).join() === wanted.join(), `mails are ${wanted.join()}`);

/** An invoice that is mailed to a server that behaves so. */
async function mailed(manner: Manner, email = "ada@buyer.example") {
  smtp.manners.push(manner);
  const invoice = await issued(seller, { buyer: { name: "Ada", email }, sendEmail: true });
  return { ...invoice, at: `invoices/${invoice.id}` };
}

describe("an invoice", () => {
  it("whose mail was refused says to whom, which, when and why; mailed again to an address that is right, it arrives", async () => {
    const { id, number, at } = await mailed({ rcpt: 550 });
    await become("failed, told why");
    const [row] = await world.database.query<{ created_at: Date }>(
      "SELECT created_at FROM mail WHERE merchant_id = $1",
      [seller.id],
    );
    const card = cardOn((await mine.get(at)).text);
    for (const said of [
      "ada@buyer.example",
      `Invoice ${number} from Test Merchant`,
      row?.created_at.toISOString() ?? "",
      "given up",
      "There is no such mailbox.",
      "550",
      "Mail it again",
    ])
      expect(card).toContain(said);
    // it says so on its own page only
    const other = await issued(seller, { buyer: { name: "Bo", email: "bo@buyer.example" }, sendEmail: true });
    await become("failed, told why", "sent");
    expect((await mine.get(`invoices/${other.id}`)).text).not.toContain(CARD);
    // and to nobody else
    const stranger = await openSession(world.baseUrl, (await newSeller(world)).secretKey);
    expect((await stranger.get(at)).status).toBe(404);
    await seller.must("PATCH", `/v1/invoices/${id}`, { buyer: { email: "ada@right.example" } });
    expect((await mine.post(`${at}/send`)).status).toBe(303);
    await become("failed, told why", "sent", "sent");
    expect(smtp.arrived.at(-1)?.to).toEqual(["ada@right.example"]);
  });

  it("whose mail was sent again and refused again names both", async () => {
    const { at } = await mailed({ rcpt: 550 });
    await become("failed, told why");
    smtp.manners.push({ data: 552 });
    await mine.post(`${at}/send`);
    await become("failed, told why", "failed, told why");
    const card = cardOn((await mine.get(at)).text);
    expect(card.match(/ada@buyer\.example/g)).toHaveLength(2);
    expect(card).toContain("The mailbox is full.");
  });

  it("whose mail is tried again says so", async () => {
    const { at } = await mailed({ data: 451 });
    await become("queued, told why");
    const card = cardOn((await mine.get(at)).text);
    expect(card).toContain("tried again");
    expect(card).toContain("The mail server asked to come again later.");
  });

  it("whose mails arrived, or that has none, says nothing", async () => {
    const { at } = await mailed("take");
    await become("sent");
    const draft = await seller.must("POST", "/v1/invoices", {
      buyer: { name: "Ada" },
      currency: "USD",
      lines: [{ name: "Work", unitPrice: { amount: "1", asset: "USD" }, quantity: 1 }],
    });
    for (const page of [at, `invoices/${draft.id}`]) expect((await mine.get(page)).text).not.toContain(CARD);
  });
});

describe("a payment", () => {
  it("names its receipt, its refund's and its return's notice that did not arrive", async () => {
    const key = newKey();
    const customer = { email: "gone@buyer.example" };
    smtp.manners.push({ rcpt: 550 }, { rcpt: 550 }, { rcpt: 550 });
    const asked = await seller.asked({ customer, payment: { payerAddress: key.address } });
    const { id } = asked.paymentIntent;
    await sendTo(world, asked.deposit.address, 13_000_000n, { payer: key });
    await seller.reaches(id, "settled");
    await seller.must("POST", `/v1/payments/${id}/refunds`, {
      amount: { amount: "4", asset: "USDC" },
      destination: checksum(newKey().address),
    });
    await until(async () => {
      await world.dev.anvil.mine();
      return (await states()).filter((state) => state === "failed, told why").length === 3;
    }, "all three are given up");
    const card = cardOn((await mine.get(`payments/${id}`)).text);
    for (const said of [
      "Receipt for your payment to Test Merchant",
      "Refund from Test Merchant",
      "Money sent back by Test Merchant",
    ])
      expect(card).toContain(said);
    expect(card.match(/gone@buyer\.example/g)).toHaveLength(3);
    expect(card).not.toContain("Mail it again");
    const other = await seller.asked({ customer });
    expect((await mine.get(`payments/${other.paymentIntent.id}`)).text).not.toContain(CARD);
  });
});
