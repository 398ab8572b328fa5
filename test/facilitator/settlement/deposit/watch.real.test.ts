/** Which addresses a process watches for a chain, and for how long. */
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { type Address, fromBytes } from "#kernel/bytes";
import { watchList } from "../../../../facilitator/settlement/deposit/watch.ts";
import { sharedDatabase } from "../../../support/db.ts";
import { manualClock } from "../../../support/manual-clock.ts";

const DAY = 86_400_000;
const CHAIN = 7;
const database = sharedDatabase();
const clock = manualClock();
const listOf = () => watchList({ loopDb: database.db, clock }, CHAIN);

let count = 0;
/** An address that was given away, watched for so long. */
async function given(days: number, { chainId = CHAIN, isRouter = false } = {}): Promise<Address> {
  const address = fromBytes(randomBytes(20)) as Address;
  count += 1;
  await database.query(
    `INSERT INTO deposit_order (order_id, merchant_id, subject, path, chain_id, token, amount, address, address_index,
       payment_ref, deadline, watched_until)
     VALUES ($1, 'mer_1', 'clr_1', $2, $3, '\\x11', 1, decode($4, 'hex'), $5, '\\x22', now(), $6)`,
    [
      `ord_${count}`,
      isRouter ? "on-chain-contract" : "deposit-match",
      chainId,
      address.slice(2),
      isRouter ? null : count,
      new Date(clock.now().getTime() + days * DAY).toISOString(),
    ],
  );
  return address;
}

it("those of its chain that are an order's own, with what was given away since the last look", async () => {
  const list = listOf();
  const [first, elsewhere, router, over] = [
    await given(1),
    await given(1, { chainId: CHAIN + 1 }),
    await given(1, { isRouter: true }),
    await given(-1),
  ];
  await list.refresh();
  expect(list.addresses()).toEqual([first]);
  for (const address of [elsewhere, router, over]) expect(list.orderAt(address)).toBeUndefined();
  const second = await given(1);
  await list.refresh();
  expect(list.addresses()).toEqual([first, second]);
  expect(list.orderAt(second)).toMatchObject({
    orderId: `ord_${count}`,
    subject: "clr_1",
    merchantId: "mer_1",
  });
});

it("reads what was written on another server, whose transactions have greater numbers, once", async () => {
  await database.query("DELETE FROM deposit_order");
  const moved = await given(1);
  await database.query("UPDATE deposit_order SET written_in = 1e15");
  const list = listOf();
  await list.refresh();
  await database.query("UPDATE deposit_order SET subject = 'clr_2'");
  await list.refresh();
  expect(list.orderAt(moved)).toMatchObject({ subject: "clr_1" });
});

it("each for a day longer than was promised; and longer still where it was promised anew", async () => {
  await database.query("DELETE FROM deposit_order");
  const [one, other] = [await given(10), await given(10)];
  const list = listOf();
  await list.refresh();
  await clock.advance(9 * DAY);
  await database.query(
    "UPDATE deposit_order SET watched_until = watched_until + interval '5 days', written_in = DEFAULT WHERE address = decode($1, 'hex')",
    [other.slice(2)],
  );
  await list.refresh();
  await clock.advance(2 * DAY - 1);
  await list.refresh();
  expect(list.addresses()).toEqual([one, other]);
  await clock.advance(3_600_001);
  await list.refresh();
  expect(list.addresses()).toEqual([other]);
  // who looks for the first time does not begin with what is over
  await clock.advance(4.5 * DAY);
  const late = listOf();
  for (const each of [list, late]) await each.refresh();
  expect([list.addresses(), late.addresses()]).toEqual([[other], []]);
});
