/** An invoice that is taken back: while nobody pays it, and never beside a payment. */
import { afterEach, describe, expect, it } from "vitest";
import { agentFor, claimHook } from "../../support/agents.ts";
import { beforeRead, chainFaults } from "../../support/chain-faults.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";
import { type Body, becomes, checkout, deposit, issued } from "./bills.ts";

const faults = chainFaults();
const hook = claimHook();
const world = sharedWorld({
  wrapChain: faults.wrap,
  settings: { maxWaitMs: 3_000 },
  checkpoint: hook.checkpoint,
});
const seller = sharedSeller(world);
afterEach(faults.clear);

describe("POST /v1/invoices/{id}/void", () => {
  it("takes it back, calls its intents off, and nobody can pay; again it is as it is", async () => {
    const invoice = await issued(seller);
    await seller.must("POST", `/v1/invoices/${invoice.id}/list`);
    const asked = await deposit(world, seller, invoice.id);
    const { send } = await agentFor(world, invoice.id);
    const gone = await seller.must("POST", `/v1/invoices/${invoice.id}/void`);
    expect(gone).toMatchObject({
      state: "void",
      status: "void",
      listed: false,
      outstanding: { amount: "0.00" },
    });
    expect(gone.voidedAt).not.toBeNull();
    expect(await seller.must("POST", `/v1/invoices/${invoice.id}/void`)).toEqual(gone);
    expect((await seller.read(asked.paymentIntent.id)).paymentIntent.status).toBe("cancelled");
    expect((await send()).body.success).not.toBe(true);
    expect(await checkout(world, invoice.id)).toMatchObject({
      status: 409,
      body: { code: "invoice_not_payable" },
    });
    await sendTo(world, asked.deposit.address, 10_000_000n);
    await until(
      async () => (await seller.read(asked.paymentIntent.id)).clearing.state === "in-review",
      "late money waits",
    );
  });

  it("is refused while money is on its way, and for what is paid", async () => {
    const invoice = await issued(seller);
    const asked = await deposit(world, seller, invoice.id);
    await sendTo(world, asked.deposit.address, 1_000_000n);
    await seller.reaches(asked.paymentIntent.id, "funds-detected");
    const refused = () => seller.ask("POST", `/v1/invoices/${invoice.id}/void`);
    expect(await refused()).toMatchObject({ status: 409, body: { code: "invoice_payment_in_progress" } });
    await sendTo(world, asked.deposit.address, 9_000_000n);
    await becomes(seller, invoice.id, "paid");
    expect(await refused()).toMatchObject({ status: 409, body: { code: "invoice_paid" } });
  });

  it("against a claim: whoever is first on the row, never both", async () => {
    const rounds = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const invoice = await issued(seller);
        return { invoice, agent: await agentFor(world, invoice.id) };
      }),
    );
    for (const { invoice, agent } of rounds) {
      const [answer, voided] = await Promise.all([
        agent.send(),
        seller.ask("POST", `/v1/invoices/${invoice.id}/void`),
      ]);
      const isPaid = answer.body.success === true;
      expect([isPaid, voided.status]).toEqual(isPaid ? [true, 409] : [false, 200]);
      await becomes(seller, invoice.id, isPaid ? "paid" : "void");
    }
  });

  it("that comes between a payment found good and its claim wins; one that comes after the claim is refused", async () => {
    const first = await issued(seller);
    const agent = await agentFor(world, first.id);
    beforeRead(faults, async () => {
      await seller.must("POST", `/v1/invoices/${first.id}/void`);
    });
    expect((await agent.send()).body.success).not.toBe(true);
    expect(await world.database.query("SELECT 1 FROM claim WHERE payable_id = $1", [first.id])).toEqual([]);
    faults.clear();
    const second = await issued(seller);
    const late = await agentFor(world, second.id);
    let voided: Promise<Body> | undefined;
    hook.beforeClaim = async () => {
      voided ??= seller.ask("POST", `/v1/invoices/${second.id}/void`);
    };
    expect((await late.send()).body.success).toBe(true);
    expect(await voided).toMatchObject({ status: 409, body: { code: expect.stringMatching(/^invoice_pa/) } });
  });
});
