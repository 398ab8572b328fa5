import { afterAll, describe, expect, it } from "vitest";
import { post, resolvePending, templates } from "#ledger";
import { sharedDatabase } from "../../support/db.ts";
import { balances, differences, payment, stray, transfers } from "./rows.ts";

const books = sharedDatabase();
afterAll(async () => {
  expect(await differences(books)).toEqual({});
});

const snapshot = async () => ({ rows: await transfers(books), balances: await balances(books) });
const resolve = (how: "post" | "void", events: readonly string[]) =>
  books.db.tx((tx) => resolvePending(tx, how, events));
const resolvedBefore = { code: "ledger_conflict", kind: "bug" };

async function credited(name: string): Promise<string> {
  const paid = payment(name, { merchantId: name });
  await books.db.tx((tx) => post(tx, [templates.x402Credited(paid)]));
  return templates.x402EventKey(paid);
}
const owed = async (name: string) => (await balances(books))[`liability:merchant:${name}:available`];

describe.each(["post", "void"] as const)("resolving a pending by %s", (how) => {
  const other = how === "post" ? "void" : "post";
  const name = `mer-${how}`;
  const left = how === "post" ? [9_950n, 0n] : [0n, 0n];
  let event = "";

  it("moves the whole amount out of pending", async () => {
    event = await credited(name);
    expect(await owed(name)).toEqual([0n, 9_950n]);
    await resolve(how, [event]);
    expect(await owed(name)).toEqual(left);
    expect((await transfers(books)).filter(({ event: key }) => key === `${event}:${how}`)).toHaveLength(2);
  });

  it("is done once: the second time nothing moves", async () => {
    const before = await snapshot();
    await resolve(how, [event]);
    await resolve(how, [event, event]);
    expect(await snapshot()).toEqual(before);
  });

  it("is final: the other way is refused and nothing moves", async () => {
    const before = await snapshot();
    await expect(resolve(other, [event])).rejects.toMatchObject(resolvedBefore);
    expect(await snapshot()).toEqual(before);
  });
});

describe("resolvePending", () => {
  it("resolves many events of several kinds at once", async () => {
    const log = stray("many", 700n);
    await books.db.tx((tx) => post(tx, [templates.unmatchedReceived(log)]));
    const events = [await credited("many-a"), await credited("many-b"), templates.unmatchedEventKey(log)];
    const before = (await balances(books))["asset:treasury:base"] ?? [0n, 0n];
    await resolve("post", events);
    expect(await owed("many-a")).toEqual([9_950n, 0n]);
    expect(await owed("many-b")).toEqual([9_950n, 0n]);
    expect((await balances(books))["asset:treasury:base"]).toEqual([
      before[0] + 20_700n,
      before[1] - 20_700n,
    ]);
  });

  it("resolves all or none: one that was resolved the other way stops the rest", async () => {
    const [voided, open] = [await credited("none-a"), await credited("none-b")];
    await resolve("void", [voided]);
    const before = await snapshot();
    await expect(resolve("post", [voided, open])).rejects.toMatchObject(resolvedBefore);
    expect(await snapshot()).toEqual(before);
  });

  it("stops on an event that has nothing pending, and changes nothing for no events", async () => {
    await expect(resolve("post", ["x402:never:0"])).rejects.toThrow("no pending transfers");
    const before = await snapshot();
    await resolve("post", []);
    expect(await snapshot()).toEqual(before);
  });

  it("lets only one of two go through that resolve the same pending in opposite ways at once", async () => {
    const event = await credited("race");
    const [posted, voided] = await Promise.allSettled([resolve("post", [event]), resolve("void", [event])]);
    expect([posted?.status, voided?.status].sort()).toEqual(["fulfilled", "rejected"]);
    expect(await owed("race")).toEqual(posted?.status === "fulfilled" ? [9_950n, 0n] : [0n, 0n]);
  });

  it("lets both go through that resolve the same pending in the same way at once", async () => {
    const event = await credited("same");
    await Promise.all([resolve("post", [event]), resolve("post", [event])]);
    expect(await owed("same")).toEqual([9_950n, 0n]);
  });
});
