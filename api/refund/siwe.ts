import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { fromBytes } from "#kernel/bytes";
import type { Random } from "#kernel/clock";

/** A sign-in message, as a payer's wallet shows it and signs it. Addresses with their checksum. */
export interface SignIn {
  readonly baseUrl: string;
  readonly path: string;
  readonly account: string;
  /** One line of plain ASCII: what the signature is for. */
  readonly statement: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The text of it. Source: EIP-4361. */
export function signInText({ baseUrl, path, account, statement, ...rest }: SignIn): string {
  return [
    `${new URL(baseUrl).host} wants you to sign in with your Ethereum account:`,
    account,
    "",
    statement,
    "",
    `URI: ${baseUrl}${path}`,
    "Version: 1",
    `Chain ID: ${rest.chainId}`,
    `Nonce: ${rest.nonce}`,
    `Issued At: ${rest.issuedAt.toISOString()}`,
    `Expiration Time: ${rest.expiresAt.toISOString()}`,
  ].join("\n");
}

const TIME = 12;
const CHANCE = 16;
const MAC = 32;
const FORM = /^[0-9a-f]{60}$/;

/** Makes nonces and knows its own, so that none is written down before it is used. One holds the time at which it was made
 *  and is good for `subject` alone. */
export interface Nonces {
  make(subject: string, at: Date): string;
  /** When it was made; null for one that was not made here, or for something else. */
  madeAt(subject: string, nonce: string): Date | null;
}

/** The same for all processes and for the life of the master secret. */
export function noncesOf(masterSecret: string | Uint8Array, random: Random): Nonces {
  const key = new Uint8Array(hkdfSync("sha256", masterSecret, "", "farebox refund claims v1", 32));
  const mac = (subject: string, head: string) =>
    createHmac("sha256", key).update(`${subject} ${head}`).digest("hex").slice(0, MAC);
  return {
    make(subject, at) {
      const time = at.getTime().toString(16).padStart(TIME, "0");
      const head = `${time}${fromBytes(random.bytes(CHANCE / 2)).slice(2)}`;
      return `${head}${mac(subject, head)}`;
    },
    madeAt(subject, nonce) {
      if (!FORM.test(nonce)) return null;
      const head = nonce.slice(0, TIME + CHANCE);
      const isOurs = timingSafeEqual(Buffer.from(nonce.slice(-MAC)), Buffer.from(mac(subject, head)));
      return isOurs ? new Date(Number.parseInt(nonce.slice(0, TIME), 16)) : null;
    },
  };
}
