/** The subscriber's mailbox: without an SMTP server, mails are files in the data folder. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { until } from "../payments/merchant.ts";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailbox {
  /** In the order in which they were written. */
  all(): Promise<readonly Mail[]>;
  /** The first with this in its subject; waits for it. */
  find(subject: string): Promise<Mail>;
}

export function mailboxOf(dataDir: string): Mailbox {
  const folder = join(dataDir, "mail");
  async function all(): Promise<readonly Mail[]> {
    // The folder is made with the first mail. Names begin with the time.
    const names = await readdir(folder).catch(() => []);
    const files = names.filter((name) => name.endsWith(".eml")).sort();
    return Promise.all(files.map((name) => readMail(join(folder, name))));
  }
  return {
    all,
    async find(wanted) {
      const mails = await until(all, (found) => found.some(({ subject }) => subject.includes(wanted)));
      const [mail] = mails.filter(({ subject }) => subject.includes(wanted));
      if (!mail) throw new Error(`no mail with "${wanted}" in its subject`);
      return mail;
    },
  };
}

async function readMail(path: string): Promise<Mail> {
  const { to, subject = "", text = "" } = await PostalMime.parse(await readFile(path));
  return { to: to?.[0]?.address ?? "", subject, text };
}

/** The pay link of a mail, and the invoice that it is of. */
export function payLinkIn({ text }: Mail): { readonly url: string; readonly invoiceId: string } {
  const [url = "", invoiceId = ""] = /https?:\/\/\S+\/invoices\/(inv_[0-9A-Z]{26})\/view/.exec(text) ?? [];
  if (url === "") throw new Error(`the mail has no pay link:\n${text}`);
  return { url, invoiceId };
}
