/** Cycles of a subscription that are issued late, together: which of them are told in one mail. */
import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { facts, freshBilling, newBiller, worker } from "./billing.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database);

const DAY_MS = 86_400_000;
type Biller = Awaited<ReturnType<typeof newBiller>>;

describe("cycles that are caught up together", () => {
  /** Of each cycle its number, what it is told together with, and whether its mail is called for by it. */
  const toldOf = async (merchant: Biller, id: string) => {
    const { cycles } = await merchant.read(id);
    return Promise.all(
      cycles.toReversed().map(async (each: { id: string; cycle: { index: number } }) => {
        const issued = (await facts(database, each.id)).find(({ type }) => type === "invoice.issued");
        const first = cycles.find(({ id: other }: { id: string }) => other === issued?.payload.batch);
        return [each.cycle.index, first?.cycle.index ?? issued?.payload.batch, issued?.payload.isLastOfBatch];
      }),
    );
  };
  /** Of each mail the invoices in it, by their numbers. */
  const mailedOf = async ({ merchantId }: Biller) => {
    type Numbered = { readonly number: string };
    const rows = await database.query<{ data: { invoices?: Numbered[]; invoice: Numbered } }>(
      "SELECT data FROM mail WHERE merchant_id = $1 AND template LIKE 'invoice%-issued' ORDER BY created_at",
      [merchantId],
    );
    return rows.map(({ data: { invoices, invoice } }) =>
      (invoices ?? [invoice]).map(({ number }) => Number(number.split("-")[2])),
    );
  };
  /** Bills one cycle, and stops for good. */
  const billOne = async () => {
    let isDead = false;
    const { db } = database;
    const tx: typeof db.tx = async (work) => {
      if (isDead) throw new Error("it has stopped");
      isDead = true;
      return db.tx(work);
    };
    await expect(worker({ db: { ...db, tx } }, time).turn("subscriptions")).rejects.toThrow("stopped");
  };
  const daily = async (over: Record<string, unknown> = {}) => {
    const merchant = await newBiller(database, house);
    const { id } = await merchant.subscribe({ interval: "day", ...over });
    const act = (word: string, body?: unknown) =>
      merchant.must("POST", `/v1/subscriptions/${id}/${word}`, body);
    await house.settle();
    return { act, merchant, id, told: () => toldOf(merchant, id), mailed: () => mailedOf(merchant) };
  };

  it("are told in one mail also where a pause lies between them", async () => {
    const { act, told } = await daily();
    // given that nobody bills: one cycle is due, two fall into a pause, and one is due after it
    time.forward(DAY_MS + 1_000);
    await act("pause");
    time.forward(2 * DAY_MS);
    await act("resume");
    time.forward(DAY_MS);
    await house.bill();
    expect(await told()).toEqual([
      [0, null, true],
      [1, 1, false],
      [4, 1, true],
    ]);
  });

  it("are told in one mail also where the first of them fell into a pause", async () => {
    const { act, told } = await daily();
    time.forward(DAY_MS + 1_000);
    await act("pause");
    time.forward(DAY_MS);
    await act("resume");
    await billOne();
    time.forward(2 * DAY_MS);
    await house.bill();
    expect(await told()).toEqual([
      [0, null, true],
      [1, null, true],
      [3, 3, false],
      [4, 3, true],
    ]);
  });

  it("are told in one mail also where its end passed in a pause, and more was skipped after that", async () => {
    const { act, told } = await daily();
    time.forward(2 * DAY_MS + 1_000);
    await act("pause");
    await act("cancel", { at: "period-end" });
    time.forward(5 * DAY_MS);
    await act("resume");
    await house.bill();
    expect(await told()).toEqual([
      [0, null, true],
      [1, 1, false],
      [2, 1, true],
    ]);
  });

  it.each(["pause", "cancel"])(
    "are told as far as they were issued where a %s comes between",
    async (word) => {
      const { act, mailed } = await daily();
      time.forward(3 * DAY_MS + 1_000);
      await billOne();
      await billOne();
      await act(word);
      await house.settle();
      expect(await mailed()).toEqual([[1], [2, 3]]);
      if (word === "cancel") return;
      time.forward(DAY_MS);
      await act("resume");
      await house.bill();
      await house.settle();
      expect(await mailed()).toEqual([[1], [2, 3], [4]]);
    },
  );

  it("are told as they end: not as it falls behind before, nor with those that fell into a pause", async () => {
    const { act, mailed, merchant } = await daily({ daysUntilDue: 0 });
    // another subscription of the merchant's has come further, in invoices 2 to 5
    await merchant.subscribe({ interval: "day", maxCycles: 4, sendEmail: false });
    time.forward(DAY_MS + 1_000);
    await act("pause");
    time.forward(2 * DAY_MS);
    await house.bill();
    await act("resume");
    time.forward(DAY_MS);
    await billOne();
    await house.settle();
    expect(await mailed()).toEqual([[1]]);
    expect(await act("cancel")).toMatchObject({ state: "cancelled" });
    await house.settle();
    expect(await mailed()).toEqual([[1], [6]]);
  });

  it.each([
    ["they are to be taken back", {}, { voidOpenInvoices: true }],
    ["nobody wants them mailed", { sendEmail: false }, {}],
  ])("are told to nobody as it ends where %s", async (_, over, how) => {
    const { act, merchant, id } = await daily(over);
    time.forward(3 * DAY_MS + 1_000);
    await billOne();
    await act("cancel", how);
    const [{ id: last }] = (await merchant.read(id)).cycles;
    expect((await facts(database, last)).map(({ type }) => type)).not.toContain("invoice.batch_cut");
  });
});
