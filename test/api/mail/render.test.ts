import { describe, expect, it } from "vitest";
import type { Message, Messages, Template } from "../../../api/mail/message.ts";
import { render } from "../../../api/mail/render.ts";
import { messagesWith } from "./messages.ts";

const named = (text: string) => messagesWith(text).map((message) => [message.template, message] as const);
const subjects = Object.fromEntries(
  named("Shop").map(([template, message]) => [template, render(message).subject]),
);

describe("a mail", () => {
  it("says in its subject what it is about", () => {
    expect(subjects).toEqual({
      "invoice-issued": "Invoice INV-2026-000042 from Shop",
      "invoices-issued": "2 invoices from Shop",
      "invoice-due-soon": "Invoice INV-2026-000042 is due on 11 August 2026",
      "invoice-due-today": "Invoice INV-2026-000042 is due today",
      "invoice-overdue-3": "Invoice INV-2026-000042 is 3 days overdue",
      "invoice-overdue-7": "Invoice INV-2026-000042 is 7 days overdue",
      "invoice-overdue-14": "Invoice INV-2026-000042 is 14 days overdue",
      receipt: "Receipt for your payment to Shop",
      "refund-needs-address": "Say where your refund from Shop goes",
      "refund-succeeded": "Refund from Shop",
      "payment-returned": "Money sent back by Shop",
      "endpoint-failing-1": "A webhook endpoint does not take events",
      "endpoint-failing-3": "A webhook endpoint does not take events",
      "endpoint-disabled": "A webhook endpoint was switched off",
      "endpoint-gone": "A webhook endpoint was switched off",
      "payout-address-added": "A payout address was added",
      "contact-changed": "Your contact address was changed",
      "merchant-suspended": "Your account was suspended",
      "merchant-resumed": "Your account is no longer suspended",
    });
  });

  it("of an invoice, as text: what is charged, what is left to pay, by when and where", () => {
    const [, message] = named("Shop")[0] ?? [];
    expect(render(message as Message).text).toBe(`Hello Shop,

Shop has sent you an invoice of 40.00 USD. It is due on 11 August 2026.

Invoice: INV-2026-000042
Issued: 1 August 2026
Due: 11 August 2026
Notes: Shop

- Shop: 10.00 USD
- Support × 3: 30.00 USD
- Total: 40.00 USD
To pay: 25.00 USD

View and pay:
https://pay.example/invoices/inv_01K2C0Z0000000000000000000/view

-- 
Farebox sent this for Shop. Answers to this mail go to them.
`);
  });

  it("of several invoices holds each with its own pay link", () => {
    const [, message] = named("Shop")[1] ?? [];
    const { text, html } = render(message as Message);
    for (const body of [text, html]) {
      expect(body).toContain("INV-2026-000042");
      expect(body).toContain("INV-2026-000043");
    }
    expect(html.match(/<a /g)).toHaveLength(2);
    expect(text.match(/View and pay INV/g)).toHaveLength(2);
  });

  const messageOf = (template: Template) => named("Shop").find(([name]) => name === template)?.[1] as Message;
  const dataOf = <T extends Template>(template: T) => messageOf(template).data as Messages[T];
  const saidIn = (template: Template) => render(messageOf(template));
  const transaction = `0x${"12".repeat(32)}`;

  it.each(["refund-succeeded", "payment-returned"] as const)(
    "%s names the transaction that brought the money, and leads to where it can be looked up",
    (template) => {
      const { text, html } = saidIn(template);
      expect(text).toContain(`Network: base\n`);
      expect(text).toContain(`Transaction: ${transaction}\n`);
      expect(text).toContain(`Look the transaction up:\nhttps://basescan.org/tx/${transaction}`);
      expect(html).toContain(`href="https://basescan.org/tx/${transaction}"`);
    },
  );

  it("leads nowhere where nobody keeps an explorer, and names no transaction where there is none", () => {
    expect(saidIn("refund-needs-address").text).not.toMatch(/Transaction|Look the transaction up/);
  });

  it("of a refund that was written down before it told its transaction still goes out", () => {
    const { seller, refund } = dataOf("refund-succeeded");
    const { transaction: _, explorerUrl: __, ...older } = refund;
    const { text } = render({
      template: "refund-succeeded",
      data: { seller, refund: older as typeof refund },
    });
    expect(text).not.toMatch(/Transaction|undefined/);
  });

  it.each([
    ["overpaid", "It was more than was asked for."],
    ["cancelled", "It came after the payment was cancelled."],
    ["late", "It came after the time to pay was over."],
    ["underpaid", "It was less than was due."],
    ["unasked", "It came beside what was asked for."],
    ["declined", "Shop did not take it as the payment."],
  ] as const)("of money that was sent back says why: %s", (cause, why) => {
    const data = dataOf("payment-returned");
    const { text } = render({
      template: "payment-returned",
      data: { ...data, returned: { ...data.returned, cause } },
    });
    expect(text).toContain("4.000000 USDC");
    expect(text).toContain(why);
  });

  it.each(named("Shop & Söhne"))(
    "%s says the same as text and as HTML, and fetches nothing",
    (_name, message) => {
      const { text, html } = render(message);
      const shown = html
        .replace(/<title>.*?<\/title>|<[^>]*>/g, " ")
        .replace(/&amp;/g, "&")
        .replace(/\s+/g, " ");
      const phrases = text
        .split("\n")
        .flatMap((line) => line.replace(/^(?:- |-- )/, "").split(/: |:$/))
        .filter(Boolean);
      for (const phrase of phrases) expect(shown).toContain(phrase.trim());
      expect(html).not.toMatch(/<img|<link|<script|<style|url\(|@import|src=/i);
      expect(html).toContain('name="viewport"');
    },
  );

  const hostile = [
    ["markup", "<script>alert(1)</script><b onmouseover=x>Bold</b>"],
    ["a closing of the attribute", `"><img src=x onerror=alert(1)>`],
    ["an entity", "&lt;script&gt; & 'quotes' \"double\""],
    ["a header", "Shop\r\nBcc: victim@example.com\r\n\r\nBody"],
    ["a lone line feed", "Shop\nSubject: Other"],
    ["a right-to-left override", "Shop\u202egpj.exe"],
    ["a separator of lines", "Shop\u2028Bcc: victim@example.com"],
    ["a link in markdown", "[click](https://evil.example)"],
    ["a script in place of an address", "javascript:alert(1)"],
  ] as const;
  it.each(hostile)("holds %s of a merchant as plain text on one line", (_name, text) => {
    for (const message of messagesWith(text)) {
      const { subject, text: body, html } = render(message);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(subject).not.toMatch(/[\u0000-\u001f\u007f\u2028\u202e]/);
      expect(body).not.toMatch(/\u202e|\u2028|\r|^Bcc:|^Subject:/m);
      // Only what we wrote ourselves is a tag or an attribute.
      expect(html).not.toMatch(/<(?:script|img|b)\b/i);
      expect(html.replace(/>[^<]*</g, "><")).not.toMatch(/onerror|onmouseover|javascript:|evil\.example/);
    }
  });

  it("escapes what is left of markup signs", () => {
    const [, message] = named(`Tom & "Jerry" 'Co'`)[0] ?? [];
    const { html, subject } = render(message as Message);
    expect(subject).toBe(`Invoice INV-2026-000042 from Tom & "Jerry" 'Co'`);
    expect(html).toContain("Tom &amp; &quot;Jerry&quot; &#39;Co&#39;");
  });

  it("has a subject of 150 characters at most, and never half a character at its end", () => {
    const subject = render(messagesWith("😀".repeat(200))[0] as Message).subject;
    expect(subject.length).toBeLessThanOrEqual(150);
    expect(subject).not.toMatch(/\p{Surrogate}/u);
  });

  it.each(["javascript:alert(1)", "data:text/html,x", "not an address"])("never links to %s", (url) => {
    const message = messagesWith("Shop")[0] as Extract<Message, { template: "invoice-issued" }>;
    const { html, text } = render({
      ...message,
      data: { ...message.data, invoice: { ...message.data.invoice, url } },
    });
    expect(html).not.toContain("<a ");
    expect(text).not.toContain(url);
  });
});
