/** Subscriptions and invoices of a merchant that the operator has suspended: nobody is billed, and nobody is reminded. */
import { expect, it } from "vitest";
import { resumeMerchant, suspendMerchant } from "#api";
import { sharedDatabase } from "../../support/db.ts";
import { operatorOf } from "../caller.ts";
import { freshBilling, newBiller, remindersOf } from "./billing.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database);

const HOUR_MS = 3_600_000;

it("bills nobody meanwhile and keeps nobody else from their turn; what was missed comes within an hour after", async () => {
  const [merchant, other] = [await newBiller(database, house), await newBiller(database, house)];
  const { id } = await merchant.subscribe({ interval: "day" });
  const { id: others } = await other.subscribe({ interval: "day" });
  const operator = operatorOf(database.db, time);
  await suspendMerchant(operator, { merchantId: merchant.merchantId, reason: "Nothing was sent." });
  time.forward(2 * 24 * HOUR_MS);
  await house.bill();
  expect([(await merchant.periods(id)).length, (await other.periods(others)).length]).toEqual([1, 3]);
  await resumeMerchant(operator, merchant.merchantId);
  time.forward(HOUR_MS);
  await house.bill();
  expect(await merchant.periods(id)).toEqual([
    "0: 2027-12-31 2028-01-01",
    "1: 2028-01-01 2028-01-02",
    "2: 2028-01-02 2028-01-03",
  ]);
});

it("reminds nobody meanwhile, nor afterwards of what was missed; of what comes then as ever", async () => {
  const merchant = await newBiller(database, house);
  const { id } = await merchant.subscribe({ interval: "year" });
  const [cycle] = (await merchant.read(id)).cycles;
  const operator = operatorOf(database.db, time);
  await suspendMerchant(operator, { merchantId: merchant.merchantId, reason: "Nothing was sent." });
  const due = new Date(cycle.dueAt).getTime();
  time.set(new Date(due + 4 * 24 * HOUR_MS).toISOString());
  await house.settle();
  await resumeMerchant(operator, merchant.merchantId);
  await house.settle();
  expect(await remindersOf(database, cycle.id)).toEqual([]);
  time.set(new Date(due + 8 * 24 * HOUR_MS).toISOString());
  await house.settle();
  expect(await remindersOf(database, cycle.id)).toEqual(["overdue-7"]);
});
