import { errorFields } from "#kernel/log";
import type { outbox, Tx } from "#store";
import { attend } from "./verbs/attend.ts";
import type { ProviderDesk } from "./verbs/desk.ts";
import { hearOf, type OrderRow, takeDue } from "./verbs/order.ts";

const EVERY_MS = 500;
const GROUP = 20;

/** Brings payments to where their providers say they are. */
export function providerLoop(desk: ProviderDesk) {
  return { name: "providers", everyMs: EVERY_MS, turn: () => attendDue(desk) };
}

/** Hears of payments that a provider is to be asked for, or told of. */
export function providerHearer({ providers, clock }: Pick<ProviderDesk, "providers" | "clock">) {
  return (tx: Tx, facts: readonly outbox.Fact[]) =>
    hearOf(tx, facts, { providers: [...providers.keys()], now: clock.now() });
}

/** Asks providers about what is due. Rows say what there is to do, so nothing is lost when a process ends. Returns how
 *  many were looked at. */
async function attendDue(desk: ProviderDesk): Promise<number> {
  const { db, clock, providers } = desk;
  const names = [...providers.keys()];
  const due = await takeDue(db, { now: clock.now(), limit: GROUP, providers: names });
  await Promise.all(due.map((order) => attendOne(desk, order)));
  return due.length;
}

async function attendOne(desk: ProviderDesk, order: OrderRow): Promise<void> {
  try {
    await attend(desk, order);
  } catch (error) {
    desk.log.warn(
      { order: order.id, provider: order.provider, attempts: order.attempts + 1, ...errorFields(error) },
      "a provider could not be asked; it is asked again later",
    );
  }
}
