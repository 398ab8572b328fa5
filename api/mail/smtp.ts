import { createTransport, type NodemailerError } from "nodemailer";
import { cleanText, cutText } from "#kernel/text";
import { mimeOf } from "./mime.ts";
import type { Handed, Mailer } from "./port.ts";

/** A job waits for no longer than this at any step. */
const TIMEOUTS = {
  dnsTimeout: 10_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
};
/** Commands that speak of one mail. A "no" to any other is about us or the server, and may pass. */
const OF_THE_MAIL = /^(?:RCPT TO|DATA)/;

/** Sends through an SMTP server: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. A password
 *  never crosses a network in the clear: away from loopback it asks for STARTTLS first. */
export function smtpMailer(smtpUrl: string): Mailer {
  const url = new URL(smtpUrl);
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isNear = /^(?:localhost|127\.[\d.]+|::1)$/.test(host);
  const hasPassword = url.username !== "";
  const transport = createTransport({
    host,
    port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && hasPassword && !isNear,
    // Nobody listens on loopback, and the certificates there are home-made.
    ignoreTLS: isNear,
    ...(hasPassword && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    ...TIMEOUTS,
  });
  return {
    async send(letter, cut) {
      try {
        await transport.sendMail({ ...mimeOf(letter), ...(cut && { signal: cut }) });
        return { outcome: "taken" };
      } catch (error) {
        const answer = answerIn(error);
        if (answer) return answer;
        throw error;
      }
    },
  };
}

/** What the server said of this mail; null when it said nothing, or something else. */
function answerIn(error: unknown): Handed | null {
  const { responseCode, response, command } = error as Partial<NodemailerError>;
  if (!responseCode || !OF_THE_MAIL.test(command ?? "")) return null;
  const outcome = responseCode >= 500 ? "refused" : "later";
  return { outcome, code: String(responseCode), reason: cutText(cleanText(response ?? ""), 200) };
}
