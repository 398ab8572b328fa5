/** A chain that left the configuration while a payer had been asked for money there. */
import { expect, it, onTestFinished } from "vitest";
import { fixedRates } from "#api";
import type { LogFields } from "#kernel/log";
import { systemClock } from "#kernel/system";
import { freshDatabase } from "../../support/db.ts";
import { silentLog, startDevChain } from "../../support/dev-chain.ts";
import { startHouse, until } from "../../support/house.ts";
import { movableClock, newSeller, sendTo } from "../../support/payments.ts";
import { addressOf, idOf } from "./deposit-scene.ts";

it("a payment that was asked for there ends with its window or is cancelled, and one that has begun is still shown", async () => {
  const [dev, gone, database] = await Promise.all([
    startDevChain(),
    startDevChain({ chainId: 31_338 }),
    freshDatabase(),
  ]);
  onTestFinished(async () => void (await Promise.all([dev.stop(), gone.stop(), database.drop()])));
  const clock = movableClock();
  const rates = fixedRates({ clock: systemClock, log: silentLog });
  const before = await startHouse(dev, database, { clock, rates, beside: [gone] });
  const seller = await newSeller({ ...before, dev, database });
  const there = { payment: { chain: "local-31338", asset: "USDC" }, executionPath: "deposit-match" };
  const asked = async () => seller.confirm((await seller.intent()).id, there);
  const [left, cancelled, begun, paid] = [await asked(), idOf(await asked()), await asked(), await asked()];
  await sendTo({ ...before, dev: gone, database }, addressOf(paid), 10_000_000n);
  await gone.anvil.rpc("anvil_mine", ["0x10"]);
  await seller.reaches(idOf(paid), "settled");
  await sendTo({ ...before, dev: gone, database }, addressOf(begun), 2_000_000n);
  await seller.reaches(idOf(begun), "funds-detected");
  await before.stop();

  const told: unknown[] = [];
  const log = { ...silentLog, error: ({ clearing }: LogFields) => void told.push(clearing) };
  const house = await startHouse(dev, database, { clock, rates, log });
  onTestFinished(() => house.stop());
  const ask = async (method: string, path: string, body?: object) => {
    const headers = {
      ...{ Authorization: `Bearer ${seller.secretKey}`, "Idempotency-Key": path },
      "Content-Type": "application/json",
    };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${house.baseUrl}/v1/${path}`, init);
    return (await answer.json()) as { readonly status: string | number; readonly code?: string };
  };
  const statusOf = async (method: string, path: string) =>
    (await ask(method, `payment-intents/${path}`)).status;
  expect(await statusOf("POST", `${cancelled}/cancel`)).toBe("cancelled");
  const page = await fetch(`${house.baseUrl}/checkout/${idOf(begun)}`, { headers: { Accept: "text/html" } });
  expect(page.status).toBe(200);
  const waits = { status: 424, code: "chain_unavailable" };
  expect(await ask("POST", `payments/${idOf(begun)}/review`, { action: "accept" })).toMatchObject(waits);
  expect(await ask("POST", `payments/${idOf(paid)}/refunds`, {})).toMatchObject(waits);
  clock.forward(32 * 60_000);
  await until(async () => (await statusOf("GET", idOf(left))) === "expired", "its window has ended");
  expect(told).not.toContain(left.clearing.id);
});
