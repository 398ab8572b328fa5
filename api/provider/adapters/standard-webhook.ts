import { isUtf8 } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { fault } from "../../http/faults.ts";
import { parseStrict } from "../../http/strict-json.ts";

const TOLERANCE_SECONDS = 5 * 60;

interface Signed {
  readonly raw: Uint8Array;
  readonly headers: Headers;
  readonly now: Date;
  /** `whsec_…` */
  readonly secret: string;
}

/** Id and JSON of a callback signed as Standard Webhooks asks: over id, time and the exact bytes. Nothing of the body
 *  is read before its signature is found good. Faults: `signature_invalid`, also for what is stale or from the future;
 *  `invalid_json`. Source: security.md §3. */
export function verifySigned({ raw, headers, now, secret }: Signed): {
  readonly id: string;
  readonly content: unknown;
} {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const [id, time, given] = ["id", "timestamp", "signature"].map(
    (name) => headers.get(`webhook-${name}`) ?? "",
  );
  if (!id || !given || !/^\d{1,12}$/.test(time ?? "")) throw fault("signature_invalid");
  const at = new Date(Number(time) * 1_000);
  if (Math.abs(now.getTime() - at.getTime()) > TOLERANCE_SECONDS * 1_000) throw fault("signature_invalid");
  // The signer takes text: bytes that are none would be replaced, so that different bodies had one signature.
  if (!isUtf8(bytes)) throw fault("signature_invalid");
  const text = bytes.toString("utf8");
  // Its `sign`, not its `verify`: that one looks at the machine's clock.
  const right = Buffer.from(new Webhook(secret).sign(id, at, text));
  if (!given.split(" ").some((one) => isSame(Buffer.from(one), right))) throw fault("signature_invalid");
  return { id, content: parseStrict(text) };
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
