/** Mails from their rows to a server: once each, whatever fails. */
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { mailJobs } from "../../../api/mail/jobs.ts";
import type { Draft } from "../../../api/mail/message.ts";
import type { Mailer } from "../../../api/mail/port.ts";
import { smtpMailer } from "../../../api/mail/smtp.ts";
import { mailBacklog } from "../../../api/mail/verbs/backlog.ts";
import type { MailDesk } from "../../../api/mail/verbs/desk.ts";
import { queueMails } from "../../../api/mail/verbs/queue.ts";
import { sendDueMail } from "../../../api/mail/verbs/send.ts";
import { sharedDatabase } from "../../support/db.ts";
import { until } from "../../support/house.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";
import { type SmtpServer, startSmtp } from "../../support/smtp.ts";
import { newMerchantId } from "../caller.ts";
import { newId, recordingLog } from "../world.ts";
import { messagesWith } from "./messages.ts";

const database = sharedDatabase();
let smtp: SmtpServer;
let clock: ManualClock;
let log: ReturnType<typeof recordingLog>;
let merchantId: string;
beforeEach(async () => {
  smtp = await startSmtp();
  clock = manualClock();
  log = recordingLog();
  merchantId = await newMerchantId(database.db);
});
afterEach(async () => {
  await smtp.stop();
  // Nothing of one test is due in the next.
  await database.query("UPDATE mail SET state = 'failed', due_at = NULL WHERE state = 'queued'");
});

function deskWith(mailer: Mailer = smtpMailer(smtp.url)): MailDesk {
  const { db } = database;
  const now = () => clock.now();
  const place = { baseUrl: "https://pay.example", explorerUrl: () => null };
  return { db, mailer, from: "no-reply@pay.example", ...place, clock, now, newId, log };
}
function draft(change: Partial<Pick<Draft, "cause" | "to">> = {}): Draft {
  const [message] = messagesWith("Shop");
  return { ...message, merchantId, cause: "inv_1", to: "buyer@example.com", ...change } as Draft;
}
const queue = (...drafts: readonly Draft[]) => database.db.tx((tx) => queueMails(tx, deskWith(), drafts));
const rows = () =>
  database.query<{
    id: string;
    state: string;
    attempts: number;
    last_error: string | null;
    due_at: Date | null;
  }>(
    "SELECT id, state, attempts, last_error, due_at, data, sent_at, created_at, message_id FROM mail WHERE merchant_id = $1 ORDER BY cause",
    [merchantId],
  );
const facts = () =>
  database.query("SELECT subject FROM outbox WHERE merchant_id = $1 AND type = 'mail.queued'", [merchantId]);
const ids = () => smtp.arrived.map(({ email }) => email.messageId);

describe("queueing a mail", () => {
  it("is done once for a cause and a template, by many at the same moment too", async () => {
    await Promise.all(Array.from({ length: 10 }, () => queue(draft(), draft(), draft({ cause: "inv_2" }))));
    expect(await rows()).toHaveLength(2);
    expect(await facts()).toHaveLength(2);
    const other = messagesWith("Shop")[2];
    await queue({ ...draft(), ...other } as Draft);
    expect(await rows()).toHaveLength(3);
  });

  it("keeps the mail in the caller's transaction", async () => {
    const undone = database.db.tx(async (tx) => {
      await queueMails(tx, deskWith(), [draft()]);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect([await rows(), await facts()]).toEqual([[], []]);
  });

  it.each([
    "a@example.com, b@example.com",
    "a@example.com\r\nBcc: b@example.com",
    "Name <a@example.com>",
    "nobody",
    "",
    `${"a".repeat(250)}@example.com`,
  ])("leaves %j out: it is not one address", async (to) => {
    await queue(draft({ to }));
    expect(await rows()).toEqual([]);
  });

  it("holds what is more than the merchant's mails of a day until the day after", async () => {
    await database.query(
      `INSERT INTO mail (merchant_id, id, cause, template, to_address, subject, message_id, state, sent_at, created_at)
       SELECT $1, 'mail_' || i, 'old_' || i, 'receipt', 'a@b.example', 's', 'm', 'sent', $2::timestamptz, $2::timestamptz
       FROM generate_series(1, 9999) AS i`,
      [merchantId, clock.now()],
    );
    await queue(draft({ cause: "inv_1" }));
    await queue(draft({ cause: "inv_2" }));
    while ((await sendDueMail(deskWith())) === "handled");
    expect(smtp.arrived).toHaveLength(1);
    await clock.advance(24 * 3_600_000);
    while ((await sendDueMail(deskWith())) === "handled");
    expect(smtp.arrived).toHaveLength(2);
  });
});

describe("sending a mail", () => {
  it("hands it over once and forgets what it said", async () => {
    await queue(draft());
    expect(await sendDueMail(deskWith())).toBe("handled");
    expect(await sendDueMail(deskWith())).toBe("none");
    const [row] = await rows();
    expect(row).toMatchObject({ state: "sent", attempts: 1, last_error: null, due_at: null, data: null });
    expect(row).toMatchObject({ sent_at: clock.now(), created_at: clock.now() });
    expect(smtp.arrived).toHaveLength(1);
    expect(smtp.arrived[0]).toMatchObject({
      to: ["buyer@example.com"],
      email: {
        messageId: `<${row?.id}@pay.example>`,
        subject: "Invoice INV-2026-000042 from Shop",
        from: { name: "Shop via Farebox", address: "no-reply@pay.example" },
        text: expect.stringContaining("View and pay:\nhttps://pay.example/invoices/"),
        html: expect.stringContaining("<table"),
        date: clock.now().toISOString(),
      },
    });
    expect(smtp.arrived[0]?.email.replyTo).toBeUndefined();
  });

  it("has answers go to the merchant's contact address, as it is then", async () => {
    await queue(draft());
    await database.query("UPDATE merchant SET contact_email = 'help@shop.example' WHERE id = $1", [
      merchantId,
    ]);
    await sendDueMail(deskWith());
    expect(smtp.arrived[0]?.email.replyTo).toMatchObject([{ address: "help@shop.example" }]);
  });

  it("sends each once with two workers at it", async () => {
    const causes = Array.from({ length: 20 }, (_, i) => draft({ cause: `inv_${i}` }));
    await queue(...causes);
    const work = async () => {
      while ((await sendDueMail(deskWith())) === "handled");
    };
    await Promise.all([work(), work(), work()]);
    expect(smtp.arrived).toHaveLength(20);
    expect(new Set(ids()).size).toBe(20);
    expect((await rows()).every(({ state, attempts }) => state === "sent" && attempts === 1)).toBe(true);
  });

  it("is done again under the same message id when the server hung up before it said yes", async () => {
    smtp.manners.push("hang-up");
    await queue(draft());
    await sendDueMail(deskWith());
    expect(await rows()).toMatchObject([{ state: "queued", attempts: 1, last_error: expect.any(String) }]);
    expect(await sendDueMail(deskWith())).toBe("none"); // not before its time
    await clock.advance(60_000);
    await sendDueMail(deskWith());
    expect(await rows()).toMatchObject([{ state: "sent", attempts: 2, last_error: null }]);
    expect(smtp.arrived).toHaveLength(2);
    expect(new Set(ids()).size).toBe(1);
    expect(new Set(smtp.arrived.map(({ email }) => email.date)).size).toBe(1);
  });

  it("is done again under the same message id when the process died before it wrote that down", async () => {
    // given a worker that hands the mail over and is never heard of again
    let handOver = () => {};
    const handedOver = new Promise<void>((resolve) => {
      handOver = resolve;
    });
    const dying: Mailer = {
      async send(letter) {
        await smtpMailer(smtp.url).send(letter);
        handOver();
        return new Promise(() => undefined);
      },
    };
    await queue(draft());
    void sendDueMail(deskWith(dying));
    await handedOver;
    // then it is another's only after the hold
    expect(await sendDueMail(deskWith())).toBe("none");
    await clock.advance(3 * 60_000);
    expect(await sendDueMail(deskWith())).toBe("handled");
    expect(smtp.arrived).toHaveLength(2);
    expect(new Set(ids()).size).toBe(1);
    expect(await rows()).toMatchObject([{ state: "sent", attempts: 2 }]);
  });

  it("is not undone by a worker that was slower than its hold", async () => {
    let fail = (_: Error) => {};
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow: Mailer = {
      send: () =>
        new Promise((_, reject) => {
          fail = reject;
          begun();
        }),
    };
    await queue(draft());
    const late = sendDueMail(deskWith(slow));
    await isBegun;
    await clock.advance(3 * 60_000);
    await sendDueMail(deskWith());
    fail(new Error("timed out"));
    await late;
    expect(await rows()).toMatchObject([{ state: "sent", attempts: 2, last_error: null }]);
  });

  it("is tried again later when the server asks for that (4xx)", async () => {
    smtp.manners.push({ rcpt: 450 }, { data: 451 });
    await queue(draft());
    await sendDueMail(deskWith());
    await clock.advance(60_000);
    await sendDueMail(deskWith());
    expect(await sendDueMail(deskWith())).toBe("none");
    await clock.advance(5 * 60_000);
    await sendDueMail(deskWith());
    expect(await rows()).toMatchObject([{ state: "sent", attempts: 3 }]);
  });

  it("ends at once when the server refuses it for good (5xx), and says so without the address", async () => {
    smtp.manners.push({ rcpt: 550 });
    await queue(draft());
    await sendDueMail(deskWith());
    const [row] = await rows();
    expect(row).toMatchObject({ state: "failed", attempts: 1, due_at: null });
    expect(row?.last_error).toMatch(/^550 .*No such mailbox/);
    expect(row?.last_error).not.toMatch(/[\r\n<>]/);
    await clock.advance(30 * 24 * 3_600_000);
    expect(await sendDueMail(deskWith())).toBe("none");
    expect(log.lines.join()).toContain("a mail was refused for good");
    expect(log.lines.join()).toContain(`"mail":"${row?.id}"`);
    expect(log.lines.join()).not.toContain("buyer@");
  });

  it("is given up after ten tries in two days", async () => {
    await queue(draft());
    const down: Mailer = { send: () => Promise.reject(new Error("connect ECONNREFUSED")) };
    const start = clock.now().getTime();
    let tries = 0;
    for (; (await rows())[0]?.state === "queued"; tries += 1) {
      const due = (await rows())[0]?.due_at?.getTime() ?? 0;
      await clock.advance(Math.max(0, due - clock.now().getTime()));
      expect(await sendDueMail(deskWith(down))).toBe("outage");
    }
    expect(tries).toBe(10);
    const hours = (clock.now().getTime() - start) / 3_600_000;
    expect([hours > 46, hours < 49]).toEqual([true, true]);
    expect(await rows()).toMatchObject([
      { state: "failed", last_error: expect.stringContaining("ECONNREFUSED") },
    ]);
  });
});

describe("the jobs", () => {
  const run = (name: string, stopping = new AbortController().signal, desk = deskWith()) =>
    mailJobs(desk)
      .find((each) => each.name === name)
      ?.run({ fact: null, stopping });

  it.each(["send-mail", "send-due-mail"])("send all that is due: %s", async (name) => {
    await queue(...["inv_1", "inv_2", "inv_3"].map((cause) => draft({ cause })));
    await run(name);
    expect(smtp.arrived).toHaveLength(3);
  });

  it("go on to the next mail when the server refuses one or asks to come again with it", async () => {
    smtp.manners.push({ rcpt: 550 }, { rcpt: 450 });
    await queue(...["inv_1", "inv_2", "inv_3"].map((cause) => draft({ cause })));
    await run("send-mail");
    expect(smtp.arrived).toHaveLength(1);
    expect((await rows()).map(({ state }) => state).sort()).toEqual(["failed", "queued", "sent"]);
  });

  it("leave the others alone while no server answers: their tries are for when one does", async () => {
    const { url } = smtp;
    await smtp.stop();
    await queue(...["inv_1", "inv_2", "inv_3"].map((cause) => draft({ cause })));
    await run("send-mail", undefined, deskWith(smtpMailer(url)));
    expect((await rows()).map(({ attempts }) => attempts).sort()).toEqual([0, 0, 1]);
    smtp = await startSmtp();
    await clock.advance(60_000);
    await run("send-due-mail");
    expect(smtp.arrived).toHaveLength(3);
  });

  it("hold no more than two hands of a process, and miss nothing that is queued meanwhile", async () => {
    let open = () => {};
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    let atOnce = 0;
    let most = 0;
    const slow: Mailer = {
      async send(letter) {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await isOpen;
        atOnce -= 1;
        return smtpMailer(smtp.url).send(letter);
      },
    };
    const [job] = mailJobs(deskWith(slow));
    const wake = () => job?.run({ fact: null, stopping: new AbortController().signal });
    await queue(...["inv_1", "inv_2", "inv_3"].map((cause) => draft({ cause })));
    const first = [wake(), wake()];
    await until(async () => atOnce === 2, "two are at it");
    await queue(draft({ cause: "inv_4" }));
    await wake(); // returns at once
    open();
    await Promise.all(first);
    expect([most, smtp.arrived.length]).toEqual([2, 4]);
  });

  it("cut a mail off that does not end when the process wants to, and leave it to another at once", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    await queue(draft());
    const stopping = new AbortController();
    const asked = once(silent, "connection");
    const done = run("send-mail", stopping.signal, deskWith(smtpMailer(`smtp://127.0.0.1:${port}`)));
    await asked;
    stopping.abort();
    await until(async () => clock.sleepers() === 1, "it is given a moment");
    await clock.advance(3_000);
    await done;
    expect(await rows()).toMatchObject([{ state: "queued", attempts: 1, last_error: null }]);
    expect(await sendDueMail(deskWith())).toBe("handled");
  });

  it("stop when the process wants to end", async () => {
    await queue(draft());
    await run("send-mail", AbortSignal.abort());
    expect(smtp.arrived).toEqual([]);
  });
});

describe("the rows of mails", () => {
  it("tell the operator what waits and what failed", async () => {
    const before = await mailBacklog(database.db.pool);
    await queue(draft({ cause: "inv_1" }), draft({ cause: "inv_2" }));
    smtp.manners.push({ rcpt: 550 });
    await sendDueMail(deskWith());
    expect(await mailBacklog(database.db.pool)).toMatchObject({ queued: 1, failed: before.failed + 1 });
  });

  it("are never deleted by the service: a second mail of the same cause would follow", async () => {
    await queue(draft());
    const { pool } = database.db;
    await expect(pool.execute("DELETE FROM mail")).rejects.toMatchObject({
      cause: { message: expect.stringContaining("permission denied") },
    });
  });
});
