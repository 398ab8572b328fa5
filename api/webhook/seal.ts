import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { fromBytes, type Hex, toBytes } from "#kernel/bytes";
import type { Random } from "#kernel/clock";
import { assert } from "#kernel/fault";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SECRET_BYTES = 32;
const PREFIX = "whsec_";

/** Seals the secrets of endpoints for the database. */
export interface Seal {
  /** A new secret, as it is shown to the merchant. */
  make(): string;
  /** `owner` is bound to it: a sealed secret that is moved to another row does not open. */
  close(secret: string, owner: string): Hex;
  open(sealed: Hex, owner: string): string;
}

/** AES-256-GCM under a key derived from the master secret; the first byte says which derivation. Source: security.md §2. */
export function createSeal(masterSecret: string | Uint8Array, random: Random): Seal {
  const key = new Uint8Array(hkdfSync("sha256", masterSecret, "", `farebox webhook secrets v${VERSION}`, 32));
  return {
    make: () => PREFIX + Buffer.from(random.bytes(SECRET_BYTES)).toString("base64"),
    close(secret, owner) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(Buffer.from(owner));
      const text = [cipher.update(secret, "utf8"), cipher.final()];
      return fromBytes(Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ...text]));
    },
    open(sealed, owner) {
      const bytes = Buffer.from(toBytes(sealed));
      assert(bytes[0] === VERSION, "a webhook secret was sealed by a version that is known");
      const [nonceEnd, tagEnd] = [1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES];
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(1, nonceEnd));
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(bytes.subarray(nonceEnd, tagEnd));
      return decipher.update(bytes.subarray(tagEnd), undefined, "utf8") + decipher.final("utf8");
    },
  };
}
