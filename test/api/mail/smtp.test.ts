import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { smtpMailer } from "../../../api/mail/smtp.ts";
import { type Manner, type SmtpServer, startSmtp } from "../../support/smtp.ts";
import { letter } from "./letter.ts";

let smtp: SmtpServer;
beforeEach(async () => {
  smtp = await startSmtp();
});
afterEach(() => smtp.stop());

describe("mail by SMTP", () => {
  it("arrives whole: both bodies, addresses, date and message id", async () => {
    expect(await smtpMailer(smtp.url).send(letter)).toEqual({ outcome: "taken" });
    const [mail] = smtp.arrived;
    expect(mail).toMatchObject({
      from: "no-reply@pay.example",
      to: ["buyer@example.com"],
      email: {
        messageId: `<${letter.messageId}>`,
        from: { name: "Shop via Farebox", address: "no-reply@pay.example" },
        to: [{ address: "buyer@example.com" }],
        replyTo: [{ address: "shop@shop.example" }],
        subject: letter.subject,
        date: "2026-08-11T09:30:00.000Z",
        html: expect.stringContaining("Café Ωmega has arrived"),
      },
    });
    expect(mail?.email.text?.trim()).toBe(letter.text.trim());
    expect(mail?.email.attachments).toEqual([]);
    expect(mail?.email.headers).toContainEqual(
      expect.objectContaining({ key: "auto-submitted", value: "auto-generated" }),
    );
  });

  it("names nobody to answer where there is nobody", async () => {
    await smtpMailer(smtp.url).send({ ...letter, replyTo: null });
    expect(smtp.arrived[0]?.email.replyTo).toBeUndefined();
  });

  it.each([
    ["a subject", { subject: "Hi\r\nBcc: victim@example.com\r\n\r\nBody" }],
    [
      "a sender's name",
      { from: { name: 'x" <x@x>\r\nBcc: victim@example.com', address: "no-reply@pay.example" } },
    ],
    ["an address to answer to", { replyTo: "shop@shop.example\r\nBcc: victim@example.com" }],
    ["a message id", { messageId: "1@pay.example>\r\nBcc: victim@example.com" }],
  ])("takes no header from %s, even of a letter that was not cleaned", async (_name, change) => {
    await smtpMailer(smtp.url).send({ ...letter, ...change });
    const [mail] = smtp.arrived;
    const [head = ""] = mail?.raw.split(/\r?\n\r?\n/) ?? [];
    expect(head).not.toMatch(/^Bcc:/im);
    expect([mail?.email.bcc, mail?.to]).toEqual([undefined, ["buyer@example.com"]]);
  });

  it("makes one recipient of an address that looks like two", async () => {
    const two = { ...letter, to: "buyer@example.com, victim@example.com" };
    await smtpMailer(smtp.url)
      .send(two)
      .catch(() => undefined);
    expect(smtp.arrived.flatMap(({ to }) => to)).not.toContain("victim@example.com");
  });

  it("names one address to answer to, whatever it looks like", async () => {
    await smtpMailer(smtp.url).send({ ...letter, replyTo: "shop@shop.example, victim@example.com" });
    const named = smtp.arrived[0]?.email.replyTo?.map(({ address }) => address);
    expect(named).not.toContain("victim@example.com");
  });

  it.each<[string, Manner]>([
    ["the address", { rcpt: 550 }],
    ["the mail", { data: 554 }],
  ])("is refused for good when the server refuses %s so", async (_name, manner) => {
    smtp.manners.push(manner);
    const handed = await smtpMailer(smtp.url).send(letter);
    expect(handed).toMatchObject({ outcome: "refused", code: expect.stringMatching(/^55/) });
    // The server's own words, on one line and without its markup.
    expect(handed).toMatchObject({ reason: expect.stringContaining("No such mailbox") });
    expect(JSON.stringify(handed)).not.toMatch(/\\n|<script>/);
  });

  it.each<[string, Manner, string]>([
    ["the address", { rcpt: 451 }, "451"],
    ["the mail", { data: 421 }, "421"],
  ])("is for later when the server asks to try %s again", async (_name, manner, code) => {
    smtp.manners.push(manner);
    expect(await smtpMailer(smtp.url).send(letter)).toMatchObject({ outcome: "later", code });
  });

  it.each<[string, Manner]>([
    ["wants no mail from us: that is for the operator to mend", { sender: 553 }],
    ["hangs up after the last byte", "hang-up"],
  ])("is not known to be taken when the server %s", async (_name, manner) => {
    smtp.manners.push(manner);
    await expect(smtpMailer(smtp.url).send(letter)).rejects.toThrow();
  });

  it("is not known to be taken when nobody listens", async () => {
    const url = smtp.url;
    await smtp.stop();
    await expect(smtpMailer(url).send(letter)).rejects.toThrow();
    smtp = await startSmtp();
  });

  it("sends no password in the clear away from loopback", async () => {
    // A server on this machine under a name that is not loopback's own.
    const heard: string[] = [];
    const server = await plainServer(heard);
    const { port } = server.address() as { port: number };
    const url = `smtp://user:secret@0.0.0.0:${port}`;
    await expect(smtpMailer(url).send(letter)).rejects.toThrow();
    expect(heard.join("")).toContain("EHLO");
    expect(heard.join("")).not.toMatch(/AUTH|c2VjcmV0|secret/);
    await new Promise((resolve) => server.close(resolve));
  });

  it("asks for TLS away from loopback wherever it is offered", async () => {
    const heard: string[] = [];
    const server = await plainServer(heard, "250-STARTTLS\r\n");
    const { port } = server.address() as { port: number };
    await expect(smtpMailer(`smtp://0.0.0.0:${port}`).send(letter)).rejects.toThrow();
    expect(heard.join("")).toContain("STARTTLS");
    expect(heard.join("")).not.toContain("MAIL FROM");
    await new Promise((resolve) => server.close(resolve));
  });
});

/** Speaks as much SMTP as it takes to be told a password, and has no TLS. */
function plainServer(heard: string[], offer = ""): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      heard.push(String(data));
      if (/^EHLO/.test(String(data))) socket.write(`250-plain\r\n${offer}250 AUTH PLAIN LOGIN\r\n`);
      else socket.end("502 no\r\n");
    });
    socket.write("220 plain\r\n");
  });
  return new Promise((resolve) => server.listen(0, "0.0.0.0", () => resolve(server)));
}
