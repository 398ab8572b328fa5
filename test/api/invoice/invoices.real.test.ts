/** Issued invoices before anybody pays: numbers, what is done to them, what is told, and what is refused. */
import { beforeEach, describe, expect, it } from "vitest";
import { invoiceEvents } from "../../../api/invoice/events.ts";
import { subscriptionEvents } from "../../../api/subscription/events.ts";
import { sharedDatabase } from "../../support/db.ts";
import { facts, freshBilling, killed, newBiller, worker } from "../subscription/billing.ts";
import { baseUrl } from "../world.ts";
import { draft, markPaid, reverse } from "./bills.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database, "2026-08-11T09:30:00.000Z");
let merchant: Awaited<ReturnType<typeof newBiller>>;
beforeEach(async () => {
  merchant = await newBiller(database, house);
});

const typesOf = async (id: string) => (await facts(database, id)).map(({ type }) => type);

describe("more than anybody may pay", () => {
  const lines = (amount: string, asset = "USD") => [
    { name: "Ships", unitPrice: { amount, asset }, quantity: 2 },
  ];
  const refused = { code: "amount_too_large", errors: [{ pointer: "/lines" }] };

  it("422 amount_too_large: is not issued, as it is made or later; a draft may ask it", async () => {
    const large = draft({ lines: lines("1000000") });
    expect(await merchant.ask("POST", "/v1/invoices", { ...large, issue: true })).toMatchObject({
      status: 422,
      body: refused,
    });
    const made = await merchant.must("POST", "/v1/invoices", large);
    const path = `/v1/invoices/${made.id}`;
    expect(await merchant.ask("POST", `${path}/issue`)).toMatchObject({ status: 422, body: refused });
    expect(await merchant.must("GET", path)).toMatchObject({ state: "draft", number: null });
    // and at the limit it is issued, with the first number
    await merchant.must("PATCH", path, { lines: lines("500000") });
    expect(await merchant.must("POST", `${path}/issue`)).toMatchObject({ state: "open", sequence: 1 });
  });

  it("goes by the rate of its currency", async () => {
    const yen = (amount: string) => ({ ...draft(), currency: "JPY", lines: lines(amount, "JPY") });
    const many = { ...yen("10000000"), issue: true };
    expect(await merchant.must("POST", "/v1/invoices", many)).toMatchObject({ state: "open" });
    const most = { ...yen("10000000000"), issue: true };
    expect(await merchant.ask("POST", "/v1/invoices", most)).toMatchObject({ status: 422, body: refused });
  });
});

describe("numbers", () => {
  it("follow one another without gaps: 100 issued at once by two processes, a third of them rolled back", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 100; i += 1) ids.push((await merchant.must("POST", "/v1/invoices", draft())).id);
    let seed = 11;
    const kills = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed % 3 === 0;
    };
    const processes = await Promise.all(
      [killed(database.db, kills), killed(database.db, kills)].map((db) =>
        newBiller(database, worker({ db }, time), merchant),
      ),
    );
    let failed = 0;
    const issue = async (id: string, i: number) => {
      for (;;) {
        const answer = await processes[i % 2]?.ask("POST", `/v1/invoices/${id}/issue`);
        if (answer?.status === 200) return answer.body.sequence as number;
        failed += 1;
        expect(answer?.status).toBeGreaterThanOrEqual(500);
      }
    };
    const numbers = await Promise.all(ids.map(issue));
    expect(failed).toBeGreaterThan(20);
    expect([...numbers].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  }, 60_000);

  it("have the merchant's prefix and the year of the day; another merchant counts for itself", async () => {
    await merchant.must("PATCH", "/v1/merchant", { invoicePrefix: "ACME-7" });
    time.set("2026-12-31T23:59:59Z");
    expect((await merchant.must("POST", "/v1/invoices", draft({ issue: true }))).number).toBe(
      "ACME-7-2026-000001",
    );
    time.set("2027-01-01T00:00:00Z");
    expect((await merchant.must("POST", "/v1/invoices", draft({ issue: true }))).number).toBe(
      "ACME-7-2027-000002",
    );
    const other = await newBiller(database, house);
    expect((await other.must("POST", "/v1/invoices", draft({ issue: true }))).number).toBe("INV-2027-000001");
    for (const invoicePrefix of ["", "inv", "A B", "-A", "ABCDEFGHIJKLM"])
      expect((await merchant.ask("PATCH", "/v1/merchant", { invoicePrefix })).status).toBe(400);
  });

  it("a row that was issued is never deleted, whoever asks", async () => {
    const { id } = await merchant.must("POST", "/v1/invoices", draft({ issue: true }));
    await expect(database.query("DELETE FROM invoice WHERE id = $1", [id])).rejects.toThrow("append-only");
  });
});

describe("actions", () => {
  it("send, give up, list and unlist: each once, with what is told", async () => {
    const { id } = await merchant.must("POST", "/v1/invoices", draft({ issue: true }));
    const act = (word: string) => merchant.must("POST", `/v1/invoices/${id}/${word}`);
    expect(await act("send")).toMatchObject({ sendEmail: true });
    const listed = await act("list");
    expect(listed.listed).toBe(true);
    expect(await act("list")).toEqual(listed);
    expect((await act("unlist")).listed).toBe(false);
    const given = await act("mark-uncollectible");
    expect(given).toMatchObject({ state: "uncollectible", outstanding: { amount: "10.00" } });
    expect(await act("mark-uncollectible")).toEqual(given);
    expect(await act("void")).toMatchObject({ state: "void" });
    expect(await typesOf(id)).toEqual([
      "invoice.created",
      "invoice.issued",
      "invoice.sent",
      "invoice.updated",
      "invoice.updated",
      "invoice.marked_uncollectible",
      "invoice.voided",
    ]);
    const unissued = await merchant.must("POST", "/v1/invoices", draft());
    for (const word of ["send", "mark-uncollectible", "void"])
      expect(await merchant.ask("POST", `/v1/invoices/${unissued.id}/${word}`)).toMatchObject({
        status: 409,
        body: { code: "invoice_state" },
      });
  });

  it("a change that its state does not allow is refused with what can be done instead", async () => {
    const { id } = await merchant.must("POST", "/v1/invoices", draft({ issue: true }));
    const change = () => merchant.ask("PATCH", `/v1/invoices/${id}`, { buyer: { name: "Eve" } });
    const refusal = {
      code: "invoice_not_editable",
      detail: expect.stringMatching(/keeps its buyer.*Void it/),
    };
    expect(await change()).toMatchObject({ status: 409, body: refusal });
    const mail = async () =>
      (await merchant.ask("PATCH", `/v1/invoices/${id}`, { sendEmail: true })).body.detail;
    expect(await mail()).toMatch(/keeps its sendEmail\. POST .*\/send mails it/);
    const gone = await merchant.must("POST", `/v1/invoices/${id}/void`);
    expect(await merchant.must("PATCH", `/v1/invoices/${id}`, { version: gone.version })).toEqual(gone);
    expect(await mail()).toMatch(/keeps its sendEmail\. Issue another one/);
    expect((await change()).body).toMatchObject({
      detail: "An invoice that is void keeps its buyer. Issue another one.",
      errors: [{ pointer: "/buyer" }],
    });
  });

  it("a list can be narrowed by state, status, buyer and number, and paged", async () => {
    const [first, second] = [
      await merchant.must("POST", "/v1/invoices", draft({ issue: true, daysUntilDue: 1 })),
      await merchant.must("POST", "/v1/invoices", draft()),
    ];
    const ids = async (query: string) =>
      (await merchant.must("GET", `/v1/invoices?${query}`)).map((each: { id: string }) => each.id);
    const all = [first.id, second.id].sort().reverse();
    expect(await ids("")).toEqual(all);
    expect(await ids("state=draft")).toEqual([second.id]);
    expect(await ids("status=open")).toEqual([first.id]);
    expect(await ids(`number=${first.number}`)).toEqual([first.id]);
    expect(await ids("buyerEmail=ADA@buyer.example")).toHaveLength(2);
    expect(await ids("buyerEmail=eve@buyer.example")).toEqual([]);
    time.set("2026-08-13T00:00:00Z");
    expect([await ids("status=open"), await ids("status=overdue")]).toEqual([[], [first.id]]);
    const page = await merchant.ask("GET", "/v1/invoices?limit=1");
    const cursor = page.headers.get("Next-Cursor");
    expect(await ids(`limit=1&cursor=${cursor}`)).toEqual(all.slice(1));
    expect((await merchant.ask("GET", `/v1/invoices?state=draft&cursor=${cursor}`)).status).toBe(400);
  });

  it("that is due as it is issued is overdue a day later", async () => {
    const { id } = await merchant.must("POST", "/v1/invoices", draft({ issue: true, daysUntilDue: 0 }));
    const overdue = async () => {
      const found = await merchant.must("GET", "/v1/invoices?status=overdue");
      const open = await merchant.must("GET", "/v1/invoices?status=open");
      const isTold = (await typesOf(id)).includes("invoice.overdue");
      return [found.length, open.length, (await merchant.must("GET", `/v1/invoices/${id}`)).status, isTold];
    };
    for (const at of ["2026-08-11T09:30:01Z", "2026-08-12T09:30:00Z"]) {
      time.set(at);
      await house.settle();
      expect(await overdue()).toEqual([0, 1, "open", false]);
    }
    time.set("2026-08-12T09:30:01Z");
    await house.settle();
    expect(await overdue()).toEqual([1, 0, "overdue", true]);
  });

  it("is told to be overdue alone, and once more where it was given more time", async () => {
    const issued = (daysUntilDue: number) =>
      merchant.must("POST", "/v1/invoices", draft({ issue: true, daysUntilDue }));
    const [first, second] = [await issued(1), await issued(10)];
    const toldBy = async (at: string) => {
      time.set(at);
      await house.settle();
      const types = await Promise.all([typesOf(first.id), typesOf(second.id)]);
      return types.map((told) => told.filter((type) => type === "invoice.overdue").length);
    };
    expect(await toldBy("2026-08-13T00:00:00Z")).toEqual([1, 0]);
    const past = await merchant.ask("PATCH", `/v1/invoices/${first.id}`, { dueAt: "2026-08-12T20:00:00Z" });
    expect(past).toMatchObject({ status: 422, body: { code: "due_date_invalid" } });
    const same = { dueAt: first.dueAt, notes: "Thank you" };
    expect(await merchant.must("PATCH", `/v1/invoices/${first.id}`, same)).toMatchObject({
      ...{ status: "overdue", dueAt: first.dueAt },
    });
    const later = { dueAt: "2026-08-20T00:00:00Z" };
    expect(await merchant.must("PATCH", `/v1/invoices/${first.id}`, later)).toMatchObject({ status: "open" });
    expect(await toldBy("2026-08-19T00:00:00Z")).toEqual([1, 0]);
    expect(await toldBy("2026-08-21T00:00:00Z")).toEqual([2, 0]);
    expect(await toldBy("2026-08-22T00:00:00Z")).toEqual([2, 1]);
  });

  it("is reminded of from its sending on, and no more once it was given up", async () => {
    const [kept, given] = [
      await merchant.must("POST", "/v1/invoices", draft({ issue: true, daysUntilDue: 5 })),
      await merchant.must("POST", "/v1/invoices", draft({ issue: true, daysUntilDue: 5 })),
    ];
    await merchant.must("POST", `/v1/invoices/${kept.id}/send`);
    // Mailed once more it is given up all the same.
    for (const word of ["send", "mark-uncollectible", "send"])
      await merchant.must("POST", `/v1/invoices/${given.id}/${word}`);
    time.set("2026-08-28T00:00:00Z");
    await house.settle();
    expect(await typesOf(kept.id)).toContain("invoice.reminder_due");
    expect(await typesOf(given.id)).not.toContain("invoice.reminder_due");
  });

  it("is announced where it was given more time, as if it had had that from the beginning", async () => {
    const invoice = draft({ issue: true, sendEmail: true, daysUntilDue: 0 });
    const { id } = await merchant.must("POST", "/v1/invoices", invoice);
    await merchant.must("PATCH", `/v1/invoices/${id}`, { dueAt: "2026-08-16T09:30:00Z" });
    time.set("2026-08-13T09:30:00Z");
    await house.settle();
    expect((await facts(database, id)).at(-1)?.payload).toMatchObject({ template: "due-in-3-days" });
  });

  it("is open again when its payment was reversed, and reminded of again", async () => {
    const invoice = draft({ issue: true, sendEmail: true, daysUntilDue: 5 });
    const { id } = await merchant.must("POST", "/v1/invoices", invoice);
    await markPaid(database, id);
    time.set("2026-08-20T00:00:00Z");
    await house.settle();
    expect(await typesOf(id)).toEqual(["invoice.created", "invoice.issued"]);
    await reverse(database, id, time.now());
    await house.settle();
    expect(await merchant.must("GET", `/v1/invoices/${id}`)).toMatchObject({
      ...{ state: "open", status: "overdue", paidAt: null },
      ...{ paid: { amount: "0.00" }, outstanding: { amount: "10.00" } },
    });
    time.set("2026-08-24T00:00:00Z");
    await house.settle();
    expect((await typesOf(id)).slice(2)).toEqual([
      "invoice.updated",
      "invoice.overdue",
      "invoice.reminder_due",
    ]);
  });

  it("that is mailed keeps an address to be mailed to, as a draft and when it is issued", async () => {
    for (const issue of [false, true]) {
      const { id } = await merchant.must("POST", "/v1/invoices", draft({ issue, sendEmail: true }));
      const refused = await merchant.ask("PATCH", `/v1/invoices/${id}`, { buyer: { email: null } });
      expect(refused.body).toMatchObject({
        code: "buyer_email_required",
        errors: [{ pointer: "/buyer/email" }],
      });
      expect((await merchant.must("GET", `/v1/invoices/${id}`)).buyer.email).toBe("ada@buyer.example");
    }
  });

  it("is due today, overdue once, and reminded of by the latest after a downtime", async () => {
    const { id } = await merchant.must(
      "POST",
      "/v1/invoices",
      draft({ issue: true, sendEmail: true, daysUntilDue: 5 }),
    );
    time.set("2026-08-28T00:00:00Z");
    await Promise.all([house.settle(), worker(database, time).settle()]);
    const told = await facts(database, id);
    expect(told.filter(({ type }) => type === "invoice.overdue")).toHaveLength(1);
    expect(
      told.filter(({ type }) => type === "invoice.reminder_due").map(({ payload }) => payload.template),
    ).toEqual(["overdue-7"]);
    time.set("2026-08-30T09:30:00Z");
    await house.settle();
    await house.settle();
    expect((await facts(database, id)).at(-1)?.payload).toMatchObject({
      template: "overdue-14",
      invoiceId: id,
    });
  });

  it("is not said to be due today once that day is over", async () => {
    const asked = draft({ issue: true, sendEmail: true, daysUntilDue: 2 });
    const { id } = await merchant.must("POST", "/v1/invoices", asked);
    const reminders = async (at: string) => {
      time.set(at);
      await house.settle();
      const told = (await facts(database, id)).filter(({ type }) => type === "invoice.reminder_due");
      return told.map(({ payload }) => payload.template);
    };
    expect(await reminders("2026-08-14T00:00:00Z")).toEqual([]);
    expect(await reminders("2026-08-16T09:30:00Z")).toEqual(["overdue-3"]);
  });
});

describe("what merchants are told", () => {
  it("is the invoice as its endpoint answers it, in the order of the facts; null for what is gone", async () => {
    const { id } = await merchant.must("POST", "/v1/invoices", draft());
    const sub = await merchant.subscribe();
    const shown = { baseUrl, now: time.now };
    const fact = (subject: string) => ({
      id: "evt_1" as const,
      type: "t",
      subject,
      merchantId: merchant.merchantId,
      payload: {},
    });
    const family = invoiceEvents(shown);
    const [gone, told] = await family.present(database.db.pool, [fact("inv_gone"), fact(id)]);
    expect(gone).toBeNull();
    expect(family.object.parse(told)).toEqual(await merchant.must("GET", `/v1/invoices/${id}`));
    const [subscription] = await subscriptionEvents.present(database.db.pool, [fact(sub.id)]);
    expect(subscriptionEvents.object.parse(subscription)).toEqual((await merchant.read(sub.id)).subscription);
  });
});

describe("bad input", () => {
  const line = draft().lines[0];
  it.each([
    ["no buyer", { buyer: undefined }, 400, "/buyer"],
    ["a buyer without a name", { buyer: { email: "a@b.example" } }, 400, "/buyer/name"],
    ["no lines", { lines: [] }, 400, "/lines"],
    ["101 lines", { lines: Array.from({ length: 101 }, () => line) }, 400, "/lines"],
    ["a line of both kinds", { lines: [{ ...line, productId: "prod_1" }] }, 400, "/lines/0"],
    ["a line of neither", { lines: [{ quantity: 1 }] }, 400, "/lines/0"],
    ["no quantity at all", { lines: [{ ...line, quantity: 0 }] }, 400, "/lines/0/quantity"],
    [
      "another currency in a line",
      { lines: [{ ...line, unitPrice: { amount: "1", asset: "EUR" } }] },
      400,
      "/lines/0/unitPrice/asset",
    ],
    [
      "a thousandth of a cent",
      { lines: [{ ...line, unitPrice: { amount: "0.001", asset: "USD" } }] },
      400,
      "/lines/0/unitPrice/amount",
    ],
    ["nothing to pay", { lines: [{ ...line, unitPrice: { amount: "0", asset: "USD" } }] }, 422, "/lines"],
    [
      "a currency that is none",
      { currency: "XYZ", lines: [{ ...line, unitPrice: { amount: "1", asset: "XYZ" } }] },
      422,
      "/currency",
    ],
    [
      "a product of nobody",
      { lines: [{ productId: "prod_00000000000000000000000000" }] },
      422,
      "/lines/0/productId",
    ],
    ["two due dates", { dueAt: "2026-09-01T00:00:00Z", daysUntilDue: 3 }, 400, "/daysUntilDue"],
    ["a due date in the past", { dueAt: "2026-08-01T00:00:00Z" }, 422, "/dueAt"],
    ["366 days", { daysUntilDue: 366 }, 400, "/daysUntilDue"],
    ["mail to nobody", { buyer: { name: "A" }, sendEmail: true }, 400, "/buyer/email"],
    ["notes with a control character", { notes: "a\u0007b" }, 400, "/notes"],
    ["reserved metadata", { metadata: { "system.x": "1" } }, 400, "/metadata/system.x"],
    ["an unknown field", { total: "1" }, 400, "/total"],
  ])("%s", async (_, over, status, pointer) => {
    const answer = await merchant.ask("POST", "/v1/invoices", draft(over));
    expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([status, pointer]);
  });

  it.each(["POST /v1/invoices", "PATCH /v1/invoices/x", "POST /v1/invoices/x/void"])(
    "%s asks for an idempotency key",
    async (name) => {
      const [method = "", path = ""] = name.split(" ");
      const { id } = await merchant.must("POST", "/v1/invoices", draft({ issue: true }));
      const response = await house.app.request(path.replace("x", id), {
        method,
        headers: { authorization: `Bearer ${merchant.key}`, "content-type": "application/json" },
        body: JSON.stringify(name.startsWith("POST /v1/invoices/") ? {} : draft()),
      });
      expect(await response.json()).toMatchObject({ status: 400, code: "idempotency_key_required" });
    },
  );
});
