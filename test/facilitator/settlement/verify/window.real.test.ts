/** When an authorization is in force: to the second, by the time of the chain's newest block, which stands still here. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { newPayer, post, sharedMerchant, sharedWorld } from "../../../support/house.ts";
import { newPayment } from "../../../support/scene.ts";

const world = sharedWorld();
const merchant = sharedMerchant(world);
/** What inclusion takes on a local chain, and the reference's own margin. */
const FLOOR = 8n;
const EXPIRES = "invalid_exact_evm_payload_authorization_valid_before";

/** What verify says of a payment that is in force from `after` to `before`, seconds from the chain's time; of a resource,
 *  or of what can be paid once. */
async function verified(terms: { after?: bigint; before?: bigint }, intent?: string) {
  const payer = await newPayer(world.dev, 10_000n);
  const resource = await merchant.register();
  const now = BigInt((await world.dev.chain.head()).timestamp);
  const { after = -now, before = 300n } = terms;
  const payment = await newPayment(world, merchant, {
    ...{ payer, resource, terms: { validAfter: now + after, validBefore: now + before } },
  });
  const { paymentPayload, ...rest } = payment.body;
  const url = `${world.baseUrl}/x402/payables/${intent}`;
  const { body } = intent
    ? await post(world.baseUrl, "/x402/verify", {
        ...rest,
        paymentPayload: { ...paymentPayload, resource: { url } },
      })
    : await payment.verify();
  return body.isValid === true ? "valid" : body.invalidReason;
}

it("it begins after validAfter, as the token has it", async () => {
  expect(await verified({ after: -1n })).toBe("valid");
  expect(await verified({ after: 0n })).toBe("invalid_exact_evm_payload_authorization_valid_after");
});

it("it has to last for as long as it takes to settle", async () => {
  expect(await verified({ before: FLOOR })).toBe("valid");
  expect(await verified({ before: FLOOR - 1n })).toBe(EXPIRES);
});

it("it may hold what can be paid once for an hour after the time of its 402, and anything else for ever", async () => {
  const made = await merchant.call("/v1/payment-intents", {
    method: "POST",
    headers: { "Idempotency-Key": randomUUID() },
    body: JSON.stringify({ amount: { amount: "0.01", asset: "USD" } }),
  });
  const { id } = (await made.json()) as { id: string };
  const answer = await fetch(`${world.baseUrl}/x402/payables/${id}`);
  const required = JSON.parse(
    Buffer.from(answer.headers.get("payment-required") ?? "", "base64").toString(),
  ) as { accepts: { maxTimeoutSeconds: number }[] };
  const longest = BigInt(required.accepts[0]?.maxTimeoutSeconds ?? 0) + 3_600n;
  expect(await verified({ before: longest }, id)).toBe("valid");
  expect(await verified({ before: longest + 1n }, id)).toBe(EXPIRES);
  expect(await verified({ before: 10n * longest })).toBe("valid");
});
