import { and, eq, lte, sql } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { cleanText, cutText } from "#kernel/text";
import { type Executor, fixed } from "#store";
import { merchant } from "../../merchant/tables.ts";
import type { Message } from "../message.ts";
import type { Handed, Letter } from "../port.ts";
import { render } from "../render.ts";
import { advance, type MailTrigger } from "../state.ts";
import { mail } from "../tables.ts";
import { words } from "../words/index.ts";
import type { MailDesk } from "./desk.ts";

type MailRow = typeof mail.$inferSelect;
/** `none` was due; one was `handled`, whatever came of it; or there is an `outage`, and others would fare no better. */
export type Sent = "none" | "handled" | "outage";

const MINUTE_MS = 60_000;
/** Pauses after a try that came to nothing: two days in all, then it is given up. */
const PAUSES_MS = [1, 5, 15, 60, 180, 360, 720, 720, 720].map((minutes) => minutes * MINUTE_MS);
/** Longer than a mailer takes: while it lasts nobody else sends the mail. */
const HELD_MS = 3 * MINUTE_MS;

/** Sends the mail that has waited longest: holds it, hands it over, writes down what came of it, each committed before the
 *  next. A process that dies in between leaves it held for a while, then it goes out again under the same message id. */
export async function sendDueMail(desk: MailDesk, cut?: AbortSignal): Promise<Sent> {
  const row = await hold(desk);
  if (!row) return "none";
  let handed: Handed;
  try {
    handed = await desk.mailer.send(await letterOf(desk, row), cut);
  } catch (error) {
    // When ours was the outage, another process need not wait.
    if (cut?.aborted) await release(desk, row);
    else await putOff(desk, row, saidBy(error));
    return "outage";
  }
  await close(desk, row, handed);
  return "handled";
}

async function hold({ db, clock }: MailDesk): Promise<MailRow | undefined> {
  const now = clock.now();
  const next = db.pool
    .select({ merchantId: mail.merchantId, id: mail.id })
    .from(mail)
    .where(and(fixed(eq(mail.state, "queued")), lte(mail.dueAt, now)))
    .orderBy(mail.dueAt)
    .limit(1)
    .for("update", { skipLocked: true });
  const [row] = await db.pool
    .update(mail)
    .set({ attempts: sql`${mail.attempts} + 1`, dueAt: new Date(now.getTime() + HELD_MS) })
    .where(sql`(${mail.merchantId}, ${mail.id}) = ${next}`)
    .returning();
  return row;
}

async function letterOf({ db, from }: MailDesk, row: MailRow): Promise<Letter> {
  assert(row.data, "a mail that waits has its data");
  const message = { template: row.template, data: row.data } as Message;
  const { text, html } = render(message);
  const seller = "seller" in message.data ? message.data.seller : null;
  return {
    messageId: row.messageId,
    to: row.toAddress,
    from: { name: seller ? words.via(plainName(seller.name)) : words.service, address: from },
    replyTo: seller ? await contactOf(db.pool, row.merchantId) : null,
    date: row.createdAt,
    subject: row.subject,
    text,
    html,
  };
}

/** The merchant's address of today: answers must not go to one that was given up. */
async function contactOf(db: Executor, merchantId: string): Promise<string | null> {
  const [row] = await db
    .select({ contactEmail: merchant.contactEmail })
    .from(merchant)
    .where(eq(merchant.id, merchantId));
  return row?.contactEmail ?? null;
}

const plainName = (name: string) => cutText(cleanText(name), 80);

async function close(desk: MailDesk, row: MailRow, handed: Handed): Promise<void> {
  switch (handed.outcome) {
    case "taken":
      return end(desk, row, "take", { sentAt: desk.clock.now(), data: null, lastError: null });
    case "refused":
      await end(desk, row, "refuse", { lastError: wordsOf(handed) });
      return told(desk, row, handed, "a mail was refused for good");
    case "later":
      return putOff(desk, row, handed);
  }
}

interface Said {
  readonly code: string;
  readonly reason: string;
}

async function putOff(desk: MailDesk, row: MailRow, said: Said): Promise<void> {
  const lastError = wordsOf(said);
  const pause = PAUSES_MS[row.attempts - 1];
  if (pause === undefined) {
    await end(desk, row, "give-up", { lastError });
    return told(desk, row, said, "a mail was given up after its last try");
  }
  const dueAt = new Date(desk.clock.now().getTime() + pause);
  await desk.db.pool.update(mail).set({ dueAt, lastError }).where(isHeld(row));
  told(desk, row, said, "a mail could not be handed over; it is tried again later");
}

async function release({ db, clock }: MailDesk, row: MailRow): Promise<void> {
  await db.pool.update(mail).set({ dueAt: clock.now() }).where(isHeld(row));
}

function saidBy(error: unknown): Said {
  const { code, message } = errorFields(error);
  return { code: String(code ?? ""), reason: String(message ?? "") };
}

function wordsOf({ code, reason }: Said): string {
  return cutText(cleanText(`${code} ${reason}`), 300);
}

/** Ends a mail, unless another process has done so meanwhile. */
async function end(
  { db }: MailDesk,
  row: MailRow,
  trigger: MailTrigger,
  change: Partial<MailRow>,
): Promise<void> {
  const state = advance(row.state, trigger);
  assert(state, "a mail that was held waits to be sent");
  await db.pool
    .update(mail)
    .set({ ...change, state, dueAt: null })
    .where(isHeld(row));
}

/** As it was held here: who was slower than the hold changes nothing any more. */
function isHeld({ merchantId, id, attempts }: MailRow) {
  return and(
    eq(mail.merchantId, merchantId),
    eq(mail.id, id),
    fixed(eq(mail.state, "queued")),
    eq(mail.attempts, attempts),
  );
}

/** Ids and codes only: an address is a person's. */
function told({ log }: MailDesk, row: MailRow, { code }: Said, message: string): void {
  const { id, merchantId, template, attempts } = row;
  log.warn({ mail: id, merchantId, template, attempts, code }, message);
}
