/** An invoice and the intents that are made for it: an agent pays by the URL of one of these. */
import { afterEach, expect, it } from "vitest";
import { agentFor } from "../../support/agents.ts";
import { chainFaults } from "../../support/chain-faults.ts";
import { sharedWorld } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";
import { type Body, checkout, issued } from "./bills.ts";

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap, settings: { maxWaitMs: 3_000 } });
const seller = sharedSeller(world);
afterEach(faults.clear);

/** An invoice, and an agent who has signed for an intent of it. */
async function signedFor() {
  const invoice = await issued(seller);
  const { body: intent } = await checkout(world, invoice.id, { executionPath: "x402" });
  return { invoice, intent, agent: await agentFor(world, intent.id) };
}
const claimsOf = (intent: Body) =>
  world.database.query<{ claim_key: string }>("SELECT claim_key FROM claim WHERE payable_id = $1", [
    intent.id,
  ]);

it("the invoice is held by an authorization that pays an intent, and the intent by none", async () => {
  const { invoice, intent, agent } = await signedFor();
  expect((await agent.send()).body.success).toBe(true);
  const [paid] = await claimsOf(intent);
  const held = await world.database.query("SELECT id, held_by FROM payable WHERE id = ANY($1) ORDER BY id", [
    [invoice.id, intent.id],
  ]);
  expect(held).toEqual([
    { id: invoice.id, held_by: paid?.claim_key },
    { id: intent.id, held_by: null },
  ]);
});

it("an intent that is called off between a payment found good and its claim is not paid; its invoice still can be", async () => {
  const { invoice, intent, agent } = await signedFor();
  let calledOff: Promise<Body> | undefined;
  faults.set({
    readAuthorizations:
      (real) =>
      async (...args) => {
        calledOff ??= seller.must("POST", `/v1/payment-intents/${intent.id}/cancel`);
        await calledOff;
        return real.readAuthorizations(...args);
      },
  });
  expect((await agent.send()).body.success).not.toBe(true);
  expect(await calledOff).toMatchObject({ status: "cancelled" });
  expect(await claimsOf(intent)).toEqual([]);
  faults.clear();
  const other = await agentFor(world, invoice.id);
  expect((await other.send()).body.success).toBe(true);
});
