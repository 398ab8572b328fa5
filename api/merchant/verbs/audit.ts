import type { NewId } from "#kernel/id";
import type { Tx } from "#store";
import type { MerchantCtx } from "../../http/context.ts";
import { type AuditAction, auditEntry } from "../tables.ts";

/** Who does something: a key, or the operator. */
export interface Actor {
  /** Null for the operator. */
  readonly keyId: string | null;
  readonly newId: NewId;
  now(): Date;
}

export function actorOf({ scope, newId, now }: MerchantCtx): Actor {
  return { keyId: scope.keyId, newId, now };
}

/** Notes what was done, in the transaction that does it. */
export async function note(
  tx: Tx,
  { keyId, newId, now }: Actor,
  done: {
    readonly merchantId: string;
    readonly action: AuditAction;
    readonly subject: string;
    readonly detail: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  await tx.insert(auditEntry).values({ ...done, id: newId("aud"), actor: keyId, occurredAt: now() });
}
