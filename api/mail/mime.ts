import type { SendMailOptions } from "nodemailer";
import type { Letter } from "./port.ts";

/** A letter for nodemailer. Addresses go in as fields, never as text to be parsed: a comma in one makes no second
 *  recipient. Nothing is read from files or addresses. */
export function mimeOf({ messageId, to, from, replyTo, date, subject, text, html }: Letter): SendMailOptions {
  return {
    messageId: `<${messageId}>`,
    from: { ...from },
    to: { name: "", address: to },
    ...(replyTo === null ? {} : { replyTo: { name: "", address: replyTo } }),
    date,
    subject,
    text,
    html,
    // No out-of-office answers to a machine (RFC 3834).
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
