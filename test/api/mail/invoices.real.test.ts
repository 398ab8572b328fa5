/** Mail about invoices, from the call that issues one to the receipt, out of a running service. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { smtpMailer } from "../../../api/mail/smtp.ts";
import { agentFor } from "../../support/agents.ts";
import { startWorld, until, type World } from "../../support/house.ts";
import { type MovableClock, movableClock, newSeller, type Seller, sendTo } from "../../support/payments.ts";
import { type Arrived, type SmtpServer, startSmtp } from "../../support/smtp.ts";
import { checkout, issued } from "../invoice/bills.ts";

const DAY_MS = 86_400_000;
let smtp: SmtpServer;
let clock: MovableClock;
let world: World;
let seller: Seller;
let buyers = 0;
let email: string;
beforeAll(async () => {
  smtp = await startSmtp();
  clock = movableClock();
  world = await startWorld({
    clock,
    mail: { mailer: smtpMailer(smtp.url), from: "no-reply@pay.example" },
  });
});
afterAll(async () => {
  await world.stop();
  await smtp.stop();
});
beforeEach(async () => {
  seller = await newSeller(world);
  buyers += 1;
  email = `ada${buyers}@buyer.example`;
});

const inbox = (): readonly Arrived[] => smtp.arrived.filter(({ to: [recipient] }) => recipient === email);
const subjects = () => inbox().map((each) => each.email.subject);
const mailed = (over: Record<string, unknown> = {}) =>
  issued(seller, { buyer: { name: "Ada Buyer", email }, sendEmail: true, ...over });
const untilMails = (count: number) =>
  until(async () => inbox().length >= count, `${count} mails to ${email}, there are ${subjects().join()}`);

/** Waits until everything that was told is delivered and every mail is out. Before the clock moves, too: a mail that has
 *  arrived and is not written down as sent would seem to have been given up by whoever sends it. */
async function allOut(): Promise<void> {
  await until(async () => {
    const [left] = await world.database.query<{ n: string }>(
      `SELECT (SELECT count(*) FROM outbox WHERE delivered_at IS NULL)
         + (SELECT count(*) FROM mail WHERE state = 'queued') AS n`,
    );
    return left?.n === "0";
  }, "all mail is out");
}

describe("an invoice that is issued to be mailed", () => {
  it("comes to its buyer once, with lines, total, due date and pay link", async () => {
    const invoice = await mailed({ notes: "Thank you\nfor coming" });
    await untilMails(1);
    await allOut();
    expect(subjects()).toEqual([`Invoice ${invoice.number} from Test Merchant`]);
    const [mail] = inbox();
    for (const body of [mail?.email.text, mail?.email.html]) {
      for (const said of ["Hello Ada Buyer,", "Design × 2", "8.00 USD", "Hosting", "2.00 USD", "10.00 USD"])
        expect(body).toContain(said);
      expect(body).toContain(invoice.url);
      expect(body).toContain("Thank you for coming");
    }
    expect(mail?.email.html).toContain(`href="${invoice.url}"`);
  });

  it("comes to nobody when its merchant does not want it mailed", async () => {
    await mailed({ sendEmail: false });
    await allOut();
    expect(subjects()).toEqual([]);
  });

  it("comes again each time its merchant sends it", async () => {
    const { id } = await mailed({ sendEmail: false });
    await seller.must("POST", `/v1/invoices/${id}/send`);
    await untilMails(1);
    await seller.must("POST", `/v1/invoices/${id}/send`);
    await untilMails(2);
    await allOut();
    expect(new Set(inbox().map((each) => each.email.messageId)).size).toBe(2);
    expect(inbox()).toHaveLength(2);
  });
});

describe("cycles of a subscription", () => {
  it("come one by one, and those that fell due during a downtime as one mail", async () => {
    await seller.must("POST", "/v1/subscriptions", {
      customer: { name: "Ada Buyer", email },
      description: "Coffee of the week",
      amount: { amount: "18.00", asset: "USD" },
      interval: "week",
      daysUntilDue: 60,
    });
    await untilMails(1);
    // Nobody ticks while the clock goes: to the service it is as if it had been down for three weeks.
    clock.forward(21 * DAY_MS);
    await untilMails(2);
    await allOut();
    expect(subjects()).toEqual([
      expect.stringMatching(/^Invoice INV-\d{4}-000001 from/),
      "3 invoices from Test Merchant",
    ]);
    const text = inbox()[1]?.email.text ?? "";
    for (const sequence of [2, 3, 4])
      expect(text).toMatch(new RegExp(`View and pay INV-\\d{4}-00000${sequence}:`));
    expect(new Set(text.match(/inv_\w{26}/g)).size).toBe(3);
  });
});

describe("an invoice that falls due", () => {
  it("is reminded of three days before, on the day, and after 3, 7 and 14 days", async () => {
    const invoice = await mailed({ daysUntilDue: 10 });
    await untilMails(1);
    const steps = [7, 3, 3, 4, 7];
    for (const [i, days] of steps.entries()) {
      await allOut();
      clock.forward(days * DAY_MS + 1_000);
      await untilMails(i + 2);
    }
    await allOut();
    const due = new Date(invoice.dueAt).toLocaleDateString("en-GB", {
      day: "numeric",
      month: "long",
      year: "numeric",
      timeZone: "UTC",
    });
    const { number } = invoice;
    expect(subjects()).toEqual([
      `Invoice ${number} from Test Merchant`,
      `Invoice ${number} is due on ${due}`,
      `Invoice ${number} is due today`,
      `Invoice ${number} is 3 days overdue`,
      `Invoice ${number} is 7 days overdue`,
      `Invoice ${number} is 14 days overdue`,
    ]);
  });

  it("is reminded of no more once it is void", async () => {
    const { id } = await mailed({ daysUntilDue: 10 });
    await untilMails(1);
    await seller.must("POST", `/v1/invoices/${id}/void`);
    await allOut();
    clock.forward(8 * DAY_MS);
    await allOut();
    expect(inbox()).toHaveLength(1);
  });
});

describe("an invoice that is paid", () => {
  const receipt = "Receipt for your payment to Test Merchant";

  it("by an agent at its URL: its buyer has the receipt", async () => {
    const { id } = await mailed();
    const agent = await agentFor(world, id);
    expect(await agent.send()).toMatchObject({ status: 200 });
    await untilMails(2);
    await world.dev.anvil.mine(3);
    await allOut();
    expect(subjects().slice(1)).toEqual([receipt]);
    expect(inbox()[1]?.email.text).toContain("10.00 USD");
  });

  it("by a deposit: its buyer has the receipt, with the invoice's number", async () => {
    const { id, number } = await mailed();
    const { body: intent } = await checkout(world, id);
    const position = await seller.confirm(intent.id);
    await sendTo(world, position.deposit.address, 10_000_000n);
    await world.dev.anvil.mine(3);
    await untilMails(2);
    await allOut();
    expect(subjects().slice(1)).toEqual([receipt]);
    expect(inbox()[1]?.email.text).toContain(`Reference: ${number}`);
  });

  it("is no payment that only names it: its buyer hears nothing of that", async () => {
    const { id } = await mailed();
    const { deposit } = await seller.asked({ metadata: { invoiceId: id } });
    await sendTo(world, deposit.address, 10_000_000n);
    await world.dev.anvil.mine(3);
    const settled = "SELECT 1 FROM payment_intent WHERE status = 'completed' AND metadata->>'invoiceId' = $1";
    await until(async () => (await world.database.query(settled, [id])).length > 0, "it is paid");
    await allOut();
    expect(subjects()).toHaveLength(1);
  });
});
