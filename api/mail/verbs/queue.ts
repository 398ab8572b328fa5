import { and, gt, inArray, sql } from "drizzle-orm";
import { insertMany, outbox, type Tx } from "#store";
import type { Draft } from "../message.ts";
import { render } from "../render.ts";
import { mail } from "../tables.ts";
import type { MailDesk } from "./desk.ts";

/** A fact of this feature for itself: a mail waits to be sent. */
export const MAIL_QUEUED = "mail.queued";

const DAY_MS = 24 * 3_600_000;
/** How many mails of one merchant go out in a day; what is more goes a day later. */
const DAILY = 10_000;
const ADDRESS = /^[^\s@,;:<>()"\\]+@[^\s@,;:<>()"\\]+$/;

/** Writes mails down, each once for its cause and template, however often it is called for. Call it in the transaction
 *  that hears of the cause. What has no address that mail could go to is left out. */
export async function queueMails(tx: Tx, desk: MailDesk, drafts: readonly Draft[]): Promise<void> {
  const sendable = drafts.filter(({ to }) => to.length <= 254 && ADDRESS.test(to));
  if (sendable.length === 0) return;
  const queued = await insert(tx, await rowsOf(tx, desk, sendable));
  await outbox.append(
    tx,
    queued.map(({ id, merchantId }) => ({
      id: desk.newId("evt"),
      type: MAIL_QUEUED,
      subject: id,
      merchantId,
      payload: {},
    })),
  );
}

type NewMail = typeof mail.$inferInsert;

async function rowsOf(tx: Tx, desk: MailDesk, drafts: readonly Draft[]): Promise<readonly NewMail[]> {
  const over = await overQuota(tx, desk, drafts);
  const [createdAt, machine] = [desk.now(), desk.clock.now().getTime()];
  const host = domainOf(desk.from);
  return drafts.map((draft) => {
    const id = desk.newId("mail");
    const { merchantId, cause, template, to, data } = draft;
    return {
      merchantId,
      id,
      cause,
      template,
      toAddress: to,
      subject: render(draft).subject,
      messageId: `${id}@${host}`,
      data,
      state: "queued",
      dueAt: new Date(over.has(merchantId) ? machine + DAY_MS : machine),
      createdAt,
    };
  });
}

/** What another transaction writes at this moment is waited for, in the order of the key: no two wait for each other. */
async function insert(tx: Tx, rows: readonly NewMail[]) {
  const key = ({ merchantId, cause, template }: NewMail) => `${merchantId} ${cause} ${template}`;
  const ordered = [...rows].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const inserted = await tx.execute<{ id: `mail_${string}`; merchantId: string }>(
    sql`${insertMany(mail, ordered)} ON CONFLICT (merchant_id, cause, template) DO NOTHING RETURNING id, merchant_id AS "merchantId"`,
  );
  return inserted.rows;
}

/** Merchants that have had their mails of the day. */
async function overQuota(tx: Tx, { now }: MailDesk, drafts: readonly Draft[]): Promise<ReadonlySet<string>> {
  const merchants = [...new Set(drafts.map(({ merchantId }) => merchantId))];
  const rows = await tx
    .select({ id: mail.merchantId })
    .from(mail)
    .where(and(inArray(mail.merchantId, merchants), gt(mail.createdAt, new Date(now().getTime() - DAY_MS))))
    .groupBy(mail.merchantId)
    .having(sql`count(*) >= ${DAILY}`);
  return new Set(rows.map(({ id }) => id));
}

function domainOf(from: string): string {
  return from.slice(from.lastIndexOf("@") + 1);
}
