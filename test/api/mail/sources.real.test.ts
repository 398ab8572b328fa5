/** Which facts call for which mail, to whom. */
import { beforeEach, describe, expect, it } from "vitest";
import type { outbox } from "#store";
import { invoice } from "../../../api/invoice/tables.ts";
import { mailHearer } from "../../../api/mail/sources/index.ts";
import type { MailDesk } from "../../../api/mail/verbs/desk.ts";
import { sharedDatabase } from "../../support/db.ts";
import { newMerchantId } from "../caller.ts";
import { clock, newId, recordingLog } from "../world.ts";

const database = sharedDatabase();
let merchantId: string;
beforeEach(async () => {
  merchantId = await newMerchantId(database.db);
});

function hear(...facts: readonly outbox.Fact[]): Promise<void> {
  const { db } = database;
  const mailer: MailDesk["mailer"] = { send: () => Promise.reject(new Error("nothing is sent here")) };
  const place = { baseUrl: "https://pay.example", explorerUrl: () => null };
  const desk = { db, mailer, from: "no-reply@pay.example", ...place, clock };
  return db.tx((tx) =>
    mailHearer({ ...desk, now: () => clock.now(), newId, log: recordingLog() })(tx, facts),
  );
}
const fact = (type: string, subject: string, payload: Record<string, unknown>): outbox.Fact => ({
  id: newId("evt"),
  type,
  subject,
  merchantId,
  payload,
});
const setContact = () =>
  database.query("UPDATE merchant SET contact_email = 'ops@shop.example' WHERE id = $1", [merchantId]);
const mails = () =>
  database.query<{ template: string; to_address: string; data: object }>(
    "SELECT template, to_address, data FROM mail WHERE merchant_id = $1 ORDER BY template",
    [merchantId],
  );

describe("a webhook endpoint that takes nothing", () => {
  const url = "https://shop.example/hooks";
  const since = "2026-08-10T09:30:00.000Z";
  const said = { url, failingSince: since, failures: 24 };
  const endpoint = { id: "whe_1", url, failingSince: since };
  const failing = (days: number, failingSince = since) =>
    fact("webhook_endpoint.failing", "whe_1", { ...said, failingSince, days });
  const disabled = (reason: string) => fact("webhook_endpoint.disabled", "whe_1", { ...said, reason });

  it("is told to the contact address on the first and third day and when it is switched off, each once", async () => {
    await setContact();
    await hear(failing(1), failing(3));
    await hear(failing(1), failing(3), disabled("failing"));
    const to_address = "ops@shop.example";
    expect(await mails()).toEqual([
      { template: "endpoint-disabled", to_address, data: { endpoint } },
      { template: "endpoint-failing-1", to_address, data: { endpoint } },
      { template: "endpoint-failing-3", to_address, data: { endpoint } },
    ]);
  });

  it("is told anew when it stops again later", async () => {
    await setContact();
    await hear(failing(1), failing(1, "2026-09-10T09:30:00.000Z"));
    expect(await mails()).toHaveLength(2);
  });

  it("is told as gone when it said so itself", async () => {
    await setContact();
    await hear(disabled("gone"));
    expect(await mails()).toMatchObject([{ template: "endpoint-gone" }]);
  });

  it("is told to nobody without a contact address, nor when a merchant switched it off", async () => {
    await hear(failing(1), disabled("failing"));
    await setContact();
    await hear(disabled("requested"));
    expect(await mails()).toEqual([]);
  });
});

describe("facts that call for no mail", () => {
  it("are passed over, many at once", async () => {
    await setContact();
    const many = Array.from({ length: 500 }, (_, i) => fact("payment.completed", `clr_${i}`, {}));
    await hear(
      ...many,
      fact("payment.created", "pi_1", {}),
      fact("merchant.updated", merchantId, { changed: [] }),
    );
    expect(await mails()).toEqual([]);
  });
});

describe("cycles of a subscription", () => {
  const told = (id: string, batch: string | null, isLastOfBatch = false) =>
    fact("invoice.issued", id, { sendEmail: true, batch, isLastOfBatch });
  let cycles = 0;
  async function cycle(index: number, change: Partial<typeof invoice.$inferInsert> = {}): Promise<string> {
    cycles += 1;
    const row: typeof invoice.$inferInsert = {
      merchantId,
      id: `inv_${cycles}`,
      state: "open",
      sequence: cycles,
      number: `INV-2026-${cycles}`,
      buyer: { name: "Ada", email: "ada@buyer.example", taxId: null, address: null },
      currency: "USD",
      lines: [{ productId: null, name: `Plan, cycle ${index}`, unitPrice: "1000", quantity: 1 }],
      total: 1_000n,
      collected: 0n,
      paid: 0n,
      metadata: {},
      merchantName: "Shop",
      merchantCity: "Oslo",
      merchantCountryCode: "NO",
      feeBps: 0,
      sendEmail: true,
      remindersHeld: false,
      listed: false,
      subscriptionId: "sub_1",
      cycleIndex: index,
      periodStart: clock.now(),
      periodEnd: clock.now(),
      version: 1,
      createdAt: clock.now(),
      updatedAt: clock.now(),
      issuedAt: clock.now(),
      dueAt: clock.now(),
      ...change,
    };
    await database.db.pool.insert(invoice).values(row);
    return row.id;
  }
  const numbers = async () =>
    (await mails()).map(({ data }) => {
      const { invoices, invoice: one } = data as {
        invoices?: { number: string }[];
        invoice?: { number: string };
      };
      return (invoices ?? [one]).map((each) => each?.number);
    });

  it("that were issued together come as one mail, when the last is told, however they are told", async () => {
    await cycle(0);
    const [one, two, three] = [await cycle(1), await cycle(2), await cycle(3)];
    // neither a later one comes with them, nor one of another subscription
    await cycle(4);
    await cycle(2, { subscriptionId: "sub_2" });
    await hear(told(one, one), told(two, one));
    expect(await mails()).toEqual([]);
    const last = told(three, one, true);
    await hear(last, told(two, one));
    await hear(last);
    expect((await mails()).map(({ template }) => template)).toEqual(["invoices-issued"]);
    expect(await numbers()).toEqual([[one, two, three].map((id) => id.replace("inv_", "INV-2026-"))]);
  });

  it("of which some were taken back meanwhile: the others come", async () => {
    const at = clock.now();
    const [one, two] = [await cycle(1), await cycle(2, { state: "void", voidedAt: at })];
    await hear(told(one, one), told(two, one, true));
    expect((await mails()).map(({ template }) => template)).toEqual(["invoice-issued"]);
    expect(await numbers()).toEqual([[one.replace("inv_", "INV-2026-")]]);
  });

  it("that were issued together come to whom each was addressed", async () => {
    const buyer = { name: "Ada", email: "countess@buyer.example", taxId: null, address: null };
    const [one, two, three] = [await cycle(1), await cycle(2), await cycle(3, { buyer })];
    await hear(told(three, one, true));
    const sent = (await mails()).map(({ to_address }) => to_address);
    expect(sent).toEqual(["countess@buyer.example", "ada@buyer.example"]);
    expect(await numbers()).toEqual(
      [[three], [one, two]].map((ids) => ids.map((id) => id.replace("inv_", "INV-2026-"))),
    );
  });

  it("are not mailed where nobody wants that, nor where no address is known", async () => {
    const buyer = { name: "Ada", email: null, taxId: null, address: null };
    await hear(
      fact("invoice.issued", await cycle(1), { sendEmail: false, batch: null, isLastOfBatch: true }),
      told(await cycle(2, { buyer }), null, true),
      fact("invoice.reminder_due", await cycle(3, { state: "void", voidedAt: clock.now() }), {
        template: "due-today",
      }),
      fact("invoice.reminder_due", await cycle(4), { template: "something-new" }),
    );
    expect(await mails()).toEqual([]);
  });
});

describe("a merchant that the operator suspends", () => {
  const changed = fact.bind(null, "merchant.updated");
  const suspension = { changed: ["suspendedAt", "suspensionReason"] };
  const suspend = (at: Date | null, reason: string | null) =>
    database.query("UPDATE merchant SET suspended_at = $2, suspension_reason = $3 WHERE id = $1", [
      merchantId,
      at,
      reason,
    ]);

  it("is told why at its contact address, and when it sells again; each once", async () => {
    await setContact();
    const suspendedAt = clock.now();
    await suspend(suspendedAt, "Nothing was sent.");
    const told = changed(merchantId, suspension);
    await hear(told);
    await hear(told, changed(merchantId, { changed: ["rails"] }));
    await suspend(null, null);
    await hear(changed(merchantId, suspension));
    const to_address = "ops@shop.example";
    expect(await mails()).toEqual([
      { template: "merchant-resumed", to_address, data: { resumedAt: expect.any(String) } },
      {
        template: "merchant-suspended",
        to_address,
        data: { suspendedAt: suspendedAt.toISOString(), reason: "Nothing was sent." },
      },
    ]);
  });

  it("is told nothing without a contact address", async () => {
    await suspend(clock.now(), "Nothing was sent.");
    await hear(changed(merchantId, suspension));
    expect(await mails()).toEqual([]);
  });
});
