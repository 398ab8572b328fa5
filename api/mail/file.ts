import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { mimeOf } from "./mime.ts";
import type { Letter, Mailer } from "./port.ts";

/** Writes mails as `.eml` files, which every mail program opens, for a deployment without SMTP. Named by message id: a
 *  mail that is written twice is one file. */
export function fileMailer(folder: string): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "unix" });
  return {
    async send(letter) {
      const { message } = await composer.sendMail(mimeOf(letter));
      await write(folder, letter, message as Buffer);
      return { outcome: "taken" };
    },
  };
}

/** Whole or not at all: who watches the folder never reads half a mail. Mails are private. */
async function write(folder: string, { messageId }: Letter, message: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = join(folder, `.${randomUUID()}.tmp`);
  try {
    const file = await open(aside, "wx", 0o600);
    try {
      await file.writeFile(message);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, join(folder, `${messageId.replace(/[^\w.@-]/g, "_")}.eml`));
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
