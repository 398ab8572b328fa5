/** What calls for mail: payments, refunds and settings of a running service, with two processes at work. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { smtpMailer } from "../../../api/mail/smtp.ts";
import { newKey } from "../../support/authorization.ts";
import { type RunningHouse, startHouse, startWorld, until, type World } from "../../support/house.ts";
import { newSeller, type Seller, sendTo } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { type Arrived, type SmtpServer, startSmtp } from "../../support/smtp.ts";
import { pay } from "../refund/paid.ts";

const explorer = "https://explorer.example";
let smtp: SmtpServer;
let world: World;
let second: RunningHouse;
let seller: Seller;
beforeAll(async () => {
  smtp = await startSmtp();
  const mail = { mailer: smtpMailer(smtp.url), from: "no-reply@pay.example" };
  world = await startWorld({ mail, explorer });
  second = await startHouse(world.dev, world.database, { mail, explorer });
});
afterAll(async () => {
  await second.stop();
  await world.stop();
  await smtp.stop();
});
/** Mails that had come before the test. */
let earlier = 0;
beforeEach(async () => {
  seller = await newSeller(world);
  earlier = smtp.arrived.length;
});

const contact = (contactEmail: string | null) => seller.must("PATCH", "/v1/merchant", { contactEmail });
const to = (address: string): readonly Arrived[] =>
  smtp.arrived.slice(earlier).filter(({ to: [recipient] }) => recipient === address);
const rows = () =>
  world.database.query<{ cause: string; template: string; state: string }>(
    "SELECT cause, template, state FROM mail WHERE merchant_id = $1 ORDER BY id",
    [seller.id],
  );

/** Waits until everything that was told is delivered and every mail is out. */
async function allOut(): Promise<void> {
  await until(async () => {
    const [left] = await world.database.query<{ n: string }>(
      `SELECT (SELECT count(*) FROM outbox WHERE delivered_at IS NULL)
         + (SELECT count(*) FROM mail WHERE state = 'queued') AS n`,
    );
    return left?.n === "0";
  }, "all mail is out");
}

/** A payment by transfer, completed. */
async function completed(body: Record<string, unknown>) {
  const position = await seller.asked(body);
  await sendTo(world, position.deposit.address, 10_000_000n);
  await world.dev.anvil.mine(3);
  return seller.reaches(position.paymentIntent.id, "settled");
}

describe("a payment that completes", () => {
  it("sends its payer one receipt, that says what was paid", async () => {
    await contact("help@shop.example");
    const { paymentIntent, clearing } = await completed({
      customer: { email: "payer@example.com", name: "Pat" },
      merchantReference: "order-1042",
    });
    await until(async () => to("payer@example.com").length > 0, "the receipt is there");
    await allOut();
    const [receipt, ...more] = to("payer@example.com");
    expect(more).toEqual([]);
    expect(receipt?.email).toMatchObject({
      subject: "Receipt for your payment to Test Merchant",
      replyTo: [{ address: "help@shop.example" }],
    });
    for (const body of [receipt?.email.text, receipt?.email.html]) {
      expect(body).toContain("10.00 USD");
      expect(body).toContain("10.00 USDC");
      expect(body).toContain("order-1042");
      expect(body).toContain(clearing.transactionHash);
      expect(body).toContain(`/checkout/${paymentIntent.id}`);
    }
    expect(await rows()).toEqual([{ cause: clearing.id, template: "receipt", state: "sent" }]);
  });

  it("sends nothing when told again", async () => {
    const { clearing } = await completed({ customer: { email: "twice@example.com" } });
    await until(async () => to("twice@example.com").length > 0, "the receipt is there");
    await world.database.query(
      "UPDATE outbox SET delivered_at = NULL WHERE subject = $1 AND type = 'payment.completed'",
      [clearing.id],
    );
    await allOut();
    expect(to("twice@example.com")).toHaveLength(1);
    expect(await rows()).toHaveLength(1);
  });

  it("sends nothing where no address is known: an agent's payment of a resource, an intent without a customer", async () => {
    await completed({});
    await completed({ customer: { name: "Nobody" } });
    await pay(world, seller, "0.50");
    await expectAtRest(world);
    await allOut();
    expect(await rows()).toEqual([]);
  });
});

describe("a refund that succeeds", () => {
  it("sends its payer one notice, after the receipt", async () => {
    const { paymentIntent } = await completed({ customer: { email: "back@example.com" } });
    await world.dev.anvil.mine(3);
    const refund = await seller.must("POST", `/v1/payments/${paymentIntent.id}/refunds`, {
      amount: { amount: "4", asset: "USDC" },
    });
    await until(async () => {
      await world.dev.anvil.mine();
      return to("back@example.com").length > 1;
    }, "the notice is there");
    await allOut();
    const [, notice, ...more] = to("back@example.com");
    expect(more).toEqual([]);
    expect(notice?.email.subject).toBe("Refund from Test Merchant");
    expect(notice?.email.text).toContain("Test Merchant has refunded 4.00 USDC of your payment.");
    expect(notice?.email.text).toContain(paymentIntent.id);
    const { providerReference } = await seller.must("GET", `/v1/refunds/${refund.id}`);
    expectTransaction(notice, providerReference);
    expect((await rows())[1]).toEqual({ cause: refund.id, template: "refund-succeeded", state: "sent" });
  });
});

/** A mail names its chain and transaction, and leads to where it can be looked up. */
function expectTransaction(mail: Arrived | undefined, transaction: string): void {
  expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
  expect(mail?.email.text).toContain("Network: local\n");
  expect(mail?.email.text).toContain(`Transaction: ${transaction}\n`);
  expect(mail?.email.html).toContain(`href="${explorer}/tx/${transaction}"`);
}

/** The transactions in which an address was sent money, newest last. */
async function sentTo(destination: string): Promise<readonly string[]> {
  const rows = await world.database.query<{ hash: string }>(
    `SELECT '0x' || encode(claim.included_tx, 'hex') AS hash FROM outgoing
     JOIN claim ON claim.claim_key = outgoing.claim_key WHERE outgoing.recipient = $1 ORDER BY outgoing.created_at`,
    [Buffer.from(destination.slice(2), "hex")],
  );
  return rows.map(({ hash }) => hash);
}

describe("money that could not be used and was sent back", () => {
  const outOf = (place: string, amount: number) => [
    `pending out returns-in-transit → treasury ${amount}`,
    `post out returns-in-transit → treasury ${amount}`,
    `single out ${place} → returns-in-transit ${amount}`,
  ];
  async function toldBack(address: string): Promise<Arrived | undefined> {
    const notices = () => to(address).filter(({ email }) => email.subject?.startsWith("Money sent back"));
    await until(async () => {
      await world.dev.anvil.mine();
      return notices().length > 0;
    }, "the notice is there");
    await allOut();
    expect(notices()).toHaveLength(1);
    return notices()[0];
  }

  it("because it came after a cancel: its payer is told how much, why, and by which transaction, once", async () => {
    const asked = await seller.asked({
      customer: { email: "late@example.com" },
      merchantReference: "order-7",
    });
    const { id } = asked.paymentIntent;
    expect((await seller.cancel(id)).status).toBe(200);
    await sendTo(world, asked.deposit.address, 4_000_000n);
    await world.dev.anvil.mine(3);
    await seller.reaches(id, "in-review");
    const destination = checksum(newKey().address);
    expect((await seller.review(id, { action: "return", destination })).status).toBe(200);
    await allOut();
    expect(to("late@example.com")).toEqual([]); // decided, and not gone yet
    const notice = await toldBack("late@example.com");
    expect(notice?.email.subject).toBe("Money sent back by Test Merchant");
    for (const said of ["4.00 USDC", "after the payment was cancelled", destination, id, "order-7"])
      expect(notice?.email.text).toContain(said);
    const [transaction = ""] = await sentTo(destination);
    expectTransaction(notice, transaction);
    const [told] = await rows();
    expect(told).toMatchObject({ template: "payment-returned", state: "sent" });
    expect(told?.cause).toMatch(/^ret_/);
    await expectAtRest(world);
    expect((await ledgerOf(world.database, asked.clearing.id)).slice(1).sort()).toEqual(
      outOf("clearing", 4_000_000),
    );
  });

  it("because it was too much, beside the receipt", async () => {
    const key = newKey();
    const asked = await seller.asked({
      customer: { email: "much@example.com" },
      payment: { payerAddress: key.address },
    });
    await sendTo(world, asked.deposit.address, 13_000_000n, { payer: key });
    await seller.reaches(asked.paymentIntent.id, "settled");
    const notice = await toldBack("much@example.com");
    expect(notice?.email.text).toContain("3.00 USDC");
    expect(notice?.email.text).toContain("It was more than was asked for.");
    expectTransaction(notice, (await sentTo(key.address))[0] ?? "");
    expect(to("much@example.com")).toHaveLength(2);
    await expectAtRest(world);
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual(
      expect.arrayContaining(outOf("overpayment", 3_000_000)),
    );
  });

  it("is told to nobody where no address is known", async () => {
    const key = newKey();
    const asked = await seller.asked({ payment: { payerAddress: key.address } });
    await sendTo(world, asked.deposit.address, 12_000_000n, { payer: key });
    await seller.reaches(asked.paymentIntent.id, "settled");
    await until(async () => {
      await world.dev.anvil.mine();
      return (await sentTo(key.address)).length > 0;
    }, "it is sent back");
    await expectAtRest(world);
    await allOut();
    expect(await rows()).toEqual([]);
  });
});

describe("a refund that waits for an address", () => {
  it("asks its payer where it goes, with a link to the page that takes the answer", async () => {
    const { paymentIntent, deposit } = await seller.asked({ customer: { email: "where@example.com" } });
    for (const amount of [4_000_000n, 6_000_000n]) await sendTo(world, deposit.address, amount);
    await seller.reaches(paymentIntent.id, "settled");
    const refund = await seller.must("POST", `/v1/payments/${paymentIntent.id}/refunds`, {});
    expect(refund.state).toBe("requires-destination");
    await until(async () => to("where@example.com").length > 1, "the question is there");
    await allOut();
    const question = to("where@example.com").find(({ email }) => email.subject?.startsWith("Say where"));
    expect(question?.email.subject).toBe("Say where your refund from Test Merchant goes");
    const links = [world, second].map(({ baseUrl }) => `${baseUrl}/checkout/${paymentIntent.id}/refund`);
    const lead = links.filter((link) => question?.email.text?.includes(link));
    expect(lead).toHaveLength(1); // to the one of both that sent it
    expect(question?.email.text).toContain("10.00 USDC");
    expect(await rows()).toContainEqual({
      cause: refund.id,
      template: "refund-needs-address",
      state: "sent",
    });
  });
});

describe("a payout address that is added", () => {
  const add = (address: string) =>
    seller.must("POST", "/v1/payout-addresses", { chain: "local", address, label: "Bank <b>" });

  it("is told to the contact address, once", async () => {
    await contact("owner@shop.example");
    const address = checksum(newKey().address);
    await add(address);
    await add(address);
    await until(async () => to("owner@shop.example").length > 0, "the notice is there");
    await allOut();
    const [notice, ...more] = to("owner@shop.example");
    expect(more).toEqual([]);
    expect(notice?.email).toMatchObject({
      subject: "A payout address was added",
      from: { name: "Farebox" },
      text: expect.stringContaining(`Address: ${address}`),
    });
  });

  it("is told to nobody while there is no contact address", async () => {
    await add(checksum(newKey().address));
    await allOut();
    expect(await rows()).toEqual([]);
  });
});

describe("a contact address that changes", () => {
  it("is told to the old one; the first one is nobody's loss", async () => {
    await contact("first@shop.example");
    await contact("second@shop.example");
    await seller.must("PATCH", "/v1/merchant", { city: "Bergen" });
    await contact(null);
    await until(async () => to("second@shop.example").length > 0, "the notices are there");
    await allOut();
    expect([to("first@shop.example").length, to("second@shop.example").length]).toEqual([1, 1]);
    expect(to("first@shop.example")[0]?.email.subject).toBe("Your contact address was changed");
  });
});
