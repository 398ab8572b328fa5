import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileMailer } from "../../../api/mail/file.ts";
import { letter } from "./letter.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "farebox-mail-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("mail without SMTP", () => {
  it("is a file that mail programs open, named by its message id, for its owner alone", async () => {
    const place = join(folder, "data", "mail");
    expect(await fileMailer(place).send(letter)).toEqual({ outcome: "taken" });
    expect(await readdir(place)).toEqual([`${letter.messageId}.eml`]);
    const path = join(place, `${letter.messageId}.eml`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    const email = await PostalMime.parse(await readFile(path));
    expect(email).toMatchObject({
      messageId: `<${letter.messageId}>`,
      to: [{ address: letter.to }],
      subject: letter.subject,
      html: expect.stringContaining("has arrived"),
    });
    expect(email.text?.trim()).toBe(letter.text.trim());
  });

  it("is one file when it is written twice", async () => {
    const mailer = fileMailer(folder);
    await mailer.send(letter);
    await mailer.send({ ...letter, subject: "Again" });
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("never leaves the folder", async () => {
    await fileMailer(join(folder, "mail")).send({ ...letter, messageId: "../../out/../x@y" });
    expect(await readdir(folder)).toEqual(["mail"]);
    expect(await readdir(join(folder, "mail"))).toHaveLength(1);
  });

  it("rejects when the folder cannot be written", async () => {
    await writeFile(join(folder, "taken"), "");
    await expect(fileMailer(join(folder, "taken")).send(letter)).rejects.toThrow();
  });
});
