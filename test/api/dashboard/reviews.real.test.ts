/** What a merchant decides at the dashboard about money that nobody else can judge. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "#api";
import { address, checksum } from "#kernel/bytes";
import { systemClock, systemRandom } from "#kernel/system";
import type { CheckoutStatus } from "../../../api/pages/schema.ts";
import { newKey } from "../../support/authorization.ts";
import { masterSecret, type Payer, sharedWorld, until } from "../../support/house.ts";
import { movableClock, newSeller, sendTo, sharedSeller, toldOf } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { expectRefusals, openSession, type Session } from "./selling.ts";

const MINUTE = 60_000;
const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);
let mine: Session;
let reader: Session;
let stranger: Session;
beforeAll(async () => {
  const { db, newId } = world.house;
  const { plaintext } = await createKey(
    { db, clock: systemClock, newId, random: systemRandom, masterSecret },
    {
      ...{ merchantId: seller.id, kind: "sk", name: "reader" },
      permissions: ["merchant:manage", "payments:read", "catalog:read"],
    },
  );
  mine = await openSession(world.baseUrl, seller.secretKey);
  reader = await openSession(world.baseUrl, plaintext);
  stranger = await openSession(world.baseUrl, (await newSeller(world)).secretKey);
});
// Before a test moves the clock: how often finality is looked for depends on the age of a payment.
afterEach(() => expectAtRest(world));

interface Waiting {
  readonly id: string;
  readonly clearingId: string;
  /** Where the payer sends. */
  readonly at: string;
  readonly payer: Payer;
}

/** 99.80 came of 100 when the window closed. */
async function underpaid(): Promise<Waiting> {
  const { paymentIntent, clearing, deposit } = await seller.asked({
    amount: { amount: "100", asset: "USD" },
  });
  const { id } = paymentIntent;
  const { payer } = await sendTo(world, deposit.address, 99_800_000n);
  const isConfirmed = async () => (await seller.read(id)).deposit.deposits[0]?.status === "confirmed";
  await until(isConfirmed, "it is confirmed");
  clock.forward(32 * MINUTE);
  await seller.reaches(id, "in-review");
  return { id, clearingId: clearing.id, at: deposit.address, payer };
}

const pathOf = (id: string) => `payments/${id}`;
const decide = (id: string, fields: Readonly<Record<string, string>>) =>
  mine.post(`${pathOf(id)}/review`, fields);
const done = (id: string, notice: string) => ({
  status: 303,
  location: `/dashboard/payments/${id}?notice=${notice}`,
});
const CAME = "single clearing deposit → clearing 99800000";
const credited = (net: number, fee: number) => [
  `pending net clearing → available ${net}`,
  `pending fee clearing → fees ${fee}`,
  `post net clearing → available ${net}`,
  `post fee clearing → fees ${fee}`,
];

/** How deep a payment lies is no decision's doing: other payments make blocks meanwhile. */
const withoutDepth = (position: unknown) =>
  JSON.parse(JSON.stringify(position, (key, value) => (key === "confirmations" ? undefined : value)));

/** All that a decision could change. */
async function standOf({ id, clearingId }: Waiting) {
  return {
    position: withoutDepth(await seller.read(id)),
    rows: await ledgerOf(world.database, clearingId),
    told: await toldOf(world.database, id, clearingId),
    returns: await returnsOf(clearingId),
    balances: await seller.must("GET", "/v1/balances"),
  };
}
const returnsOf = (clearingId: string) =>
  world.database.query<{ amount: string; destination: string; note: string | null }>(
    `SELECT amount, '0x' || encode(destination, 'hex') AS destination, note
     FROM clearing_return WHERE clearing_id = $1`,
    [clearingId],
  );

describe("what was underpaid", () => {
  it("stands where it is looked for, with every decision that there is", async () => {
    const { id } = await underpaid();
    expect((await mine.get("")).text).toContain("One payment waits");
    expect((await mine.get("payments?reviewRequired=true")).text).toContain(id);
    const { text } = await mine.get(pathOf(id));
    expect(decisionsOn(text)).toEqual(["accept", "return", "extend"]);
    expect(text).not.toContain("Returns of this payment");
    expect((await reader.get(pathOf(id))).text).toContain("<code>payments:write</code>");
    expect(await decide(id, { action: "accept" })).toMatchObject(done(id, "accepted"));
    expect((await mine.get("")).text).not.toContain("One payment waits");
  });

  it.each([
    ["accept", {}],
    ["return", { destination: newKey().address }],
    ["extend", {}],
  ])("%s: nothing for a stranger, another site or another key", async (action, fields) => {
    const waiting = await underpaid();
    const who = { mine, reader, stranger };
    await expectRefusals(`${pathOf(waiting.id)}/review`, { action, ...fields }, who, () => standOf(waiting));
    expect((await decide(waiting.id, { action: "accept" })).status).toBe(303);
  });

  it("accepted, it is the payment: worked posting 8", async () => {
    const waiting = await underpaid();
    const { id, clearingId } = waiting;
    expect(await decide(id, { action: "accept", once: `a-${id}` })).toMatchObject(done(id, "accepted"));
    expect((await mine.get(`${pathOf(id)}?notice=accepted`)).text).toContain("What came is the payment.");
    // when it is sent twice, then once more by a form of its own
    expect(await decide(id, { action: "accept", once: `a-${id}` })).toMatchObject(done(id, "accepted"));
    expect((await decide(id, { action: "accept" })).status).toBe(409);
    await expectAtRest(world);
    expect(await ledgerOf(world.database, clearingId)).toEqual([CAME, ...credited(99_301_000, 499_000)]);
    expect(await returnsOf(clearingId)).toEqual([]);
  });

  it("returned, it goes back once and whole, and the merchant is not credited: worked posting 13", async () => {
    const waiting = await underpaid();
    const { id } = waiting;
    const { address: destination } = newKey();
    const { balances, told } = await standOf(waiting);
    const form = { action: "return", destination, note: "sold out", once: `r-${id}` };
    const [first, twin] = await Promise.all([decide(id, form), decide(id, form)]);
    expect([first, twin]).toMatchObject([done(id, "returned"), done(id, "returned")]);
    const again = await decide(id, { action: "return", destination });
    expect([again.status, again.text.includes(`role="alert"`)]).toEqual([409, true]);
    await arrives(destination, 99_800_000n);
    await expectAtRest(world);
    expect(await standOf(waiting)).toMatchObject({
      position: {
        paymentIntent: { status: "failed", failureReason: "review_returned" },
        clearing: { state: "returned" },
        deposit: { reviewRequired: false, deposits: [{ status: "returned" }] },
      },
      rows: [
        CAME,
        "single out clearing → returns-in-transit 99800000",
        "pending out returns-in-transit → treasury 99800000",
        "post out returns-in-transit → treasury 99800000",
      ],
      told: [...told, "payment.returned"],
      returns: [{ amount: "99800000", destination, note: "sold out" }],
      balances,
    });
    const { text } = await mine.get(`${pathOf(id)}?notice=returned`);
    expect(text).toContain("it goes back");
    expect(decisionsOn(text)).toEqual([]);
    // the page names what went back, where to, and by which transaction
    const cardNow = async () =>
      /<caption[^>]*>Returns of this payment.*?<\/section>/s.exec((await mine.get(pathOf(id))).text)?.[0] ??
      "";
    const hasLeft = async () => (await cardNow()).includes(`<span class="badge good">sent</span>`);
    await until(hasLeft, "it is seen to have left");
    const answer = await fetch(`${world.baseUrl}/checkout/${id}/status`);
    const [returned] = ((await answer.json()) as CheckoutStatus).returned;
    expect(returned?.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
    const card = await cardNow();
    for (const said of [checksum(address(destination)), returned?.transactionHash, "sold out", "99.80 USDC"])
      expect(card).toContain(said);
  });

  it.each([
    ["without an address, since nobody proved to be the payer", () => ""],
    ["to an address of ours", ({ at }: Waiting) => at],
    ["to what is no address", () => "0xbb"],
  ])("is not returned %s, and the field says so", async (_, destinationOf) => {
    const waiting = await underpaid();
    const before = await standOf(waiting);
    const destination = destinationOf(waiting);
    const refused = await decide(waiting.id, { action: "return", destination, note: "sold out" });
    expect(refused.status).toBe(destination === "0xbb" ? 400 : 422);
    expect(refused.text).toMatch(/<input[^>]* name="destination"[^>]* aria-invalid="true"/);
    // what was chosen and typed is still there
    expect(refused.text).toMatch(/<option value="return" selected/);
    expect(refused.text).toContain(`value="sold out"`);
    expect(await standOf(waiting)).toEqual(before);
    expect((await decide(waiting.id, { action: "accept" })).status).toBe(303);
  });

  it("extended, the payer has more time at the same address, and it settles with the rest", async () => {
    const waiting = await underpaid();
    const { id, clearingId, at, payer } = waiting;
    const before = await standOf(waiting);
    const form = { action: "extend", once: `e-${id}` };
    expect(await decide(id, form)).toMatchObject(done(id, "extended"));
    const extended = await standOf(waiting);
    expect(extended).toMatchObject({
      position: {
        paymentIntent: { status: "clearing" },
        clearing: { state: "funds-detected" },
        deposit: { address: at, reviewRequired: false, received: { amount: "99.800000" } },
      },
      // no money moved
      ...{ rows: [CAME], returns: [], balances: before.balances },
      told: [...before.told, "payment.reopened", "payment.funds_detected"],
    });
    expect(extended.position.paymentIntent.expiresAt > before.position.paymentIntent.expiresAt).toBe(true);
    // when it is sent twice, then once more by a form of its own: the window stays as it is
    expect(await decide(id, form)).toMatchObject(done(id, "extended"));
    expect((await decide(id, { action: "extend" })).status).toBe(409);
    expect(await standOf(waiting)).toEqual(extended);
    const { text } = await mine.get(`${pathOf(id)}?notice=extended`);
    expect([text.includes("The payer has more time"), decisionsOn(text)]).toEqual([true, []]);
    await sendTo(world, at, 200_000n, { payer });
    await seller.reaches(id, "settled");
    await expectAtRest(world);
    expect(await ledgerOf(world.database, clearingId)).toEqual([
      CAME,
      "single clearing deposit → clearing 200000",
      ...credited(99_500_000, 500_000),
    ]);
  });
});

describe("what came beside a settled payment", () => {
  it("can only go back, and the payment itself stays as it was", async () => {
    const { paymentIntent, clearing, deposit } = await seller.asked();
    const { id } = paymentIntent;
    const { payer } = await sendTo(world, deposit.address, 10_000_000n);
    await seller.reaches(id, "settled");
    await sendTo(world, deposit.address, 3_000_000n);
    await until(async () => (await seller.read(id)).deposit.reviewRequired, "it is seen");
    const waiting = { id, clearingId: clearing.id, at: deposit.address, payer };
    expect(decisionsOn((await mine.get(pathOf(id))).text)).toEqual(["return"]);
    const before = await standOf(waiting);
    for (const action of ["accept", "extend"]) expect((await decide(id, { action })).status).toBe(409);
    expect(await standOf(waiting)).toEqual(before);
    const { address: destination } = newKey();
    expect(await decide(id, { action: "return", destination })).toMatchObject(done(id, "returned"));
    await arrives(destination, 3_000_000n);
    const { position, rows } = await standOf(waiting);
    expect(position).toMatchObject({
      paymentIntent: { status: "completed" },
      clearing: { state: "settled", netAmount: { amount: "9.950000" } },
      deposit: { reviewRequired: false },
    });
    expect(rows).toContain("single out unmatched → returns-in-transit 3000000");
  });
});

describe("what was too much", () => {
  it("is shown, and goes back when the merchant says where to; the payment stays as it was", async () => {
    const { paymentIntent, clearing, deposit } = await seller.asked();
    const { id } = paymentIntent;
    await sendTo(world, deposit.address, 12_000_000n);
    await seller.reaches(id, "settled");
    const { text } = await mine.get(pathOf(id));
    expect(text).toMatch(/Too much<\/dt><dd><span class="money" title="2.000000 USDC"/);
    expect(decisionsOn(text)).toEqual(["return"]);
    const waits = [/Too much came for one payment/, new RegExp(`class="warning".*payments/${id}"`)];
    const overview = (await mine.get("")).text;
    for (const words of waits) expect(overview).toMatch(words);
    expect((await stranger.get("")).text).not.toMatch(/Too much came/);
    const { address: destination } = newKey();
    expect(await decide(id, { action: "return", destination })).toMatchObject(done(id, "returned"));
    expect((await mine.get("")).text).not.toMatch(/Too much came/);
    const after = (await mine.get(pathOf(id))).text;
    expect([after.includes("Too much"), decisionsOn(after)]).toEqual([false, []]);
    await arrives(destination, 2_000_000n);
    await expectAtRest(world);
    expect((await ledgerOf(world.database, clearing.id)).toSorted()).toEqual(
      [
        "single clearing deposit → clearing 10000000",
        "single overpayment deposit → overpayment 2000000",
        ...credited(9_950_000, 50_000),
        "single out overpayment → returns-in-transit 2000000",
        "pending out returns-in-transit → treasury 2000000",
        "post out returns-in-transit → treasury 2000000",
      ].toSorted(),
    );
    expect((await seller.read(id)).clearing.state).toBe("settled");
  });
});

/** The decisions that a page offers. */
function decisionsOn(text: string): readonly string[] {
  const [, options = ""] = /<select[^>]* name="action"[^>]*>(.*?)<\/select>/s.exec(text) ?? [];
  return [...options.matchAll(/value="([^"]+)"/g)].map(([, value]) => value ?? "");
}

/** Mines until so much has reached an address. */
function arrives(to: string, amount: bigint): Promise<void> {
  const { chain, anvil, usdc } = world.dev;
  return until(async () => {
    await anvil.mine();
    return (await chain.tokenBalance(usdc, address(to), "latest")) === amount;
  }, `${amount} arrive`);
}
