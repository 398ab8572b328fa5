import { and, desc, eq, lt } from "drizzle-orm";
import type { NewId } from "#kernel/id";
import type { Executor } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import type { Page } from "../../http/page.ts";
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
  db: Executor,
  { keyId, newId, now }: Actor,
  done: {
    readonly merchantId: string;
    readonly action: AuditAction;
    readonly subject: string;
    readonly detail: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  await db.insert(auditEntry).values({ ...done, id: newId("aud"), actor: keyId, occurredAt: now() });
}

/** Notes a request that changed something: which route, done by which key, and to what. */
export async function noteRequest(
  db: Executor,
  ctx: MerchantCtx,
  { route, subject }: { readonly route: `${string} /${string}`; readonly subject: string },
): Promise<void> {
  const { merchantId, requestId } = ctx;
  await note(db, actorOf(ctx), { merchantId, action: route, subject, detail: { requestId } });
}

export type AuditEntry = typeof auditEntry.$inferSelect;

/** What was done, newest first; one more than the page holds when there is more. */
export async function listAudit({ ctx, input }: Call<Page>): Promise<readonly AuditEntry[]> {
  ctx.demand("merchant:manage");
  const after = input.after === null ? undefined : lt(auditEntry.id, input.after as AuditEntry["id"]);
  return ctx.db.pool
    .select()
    .from(auditEntry)
    .where(and(eq(auditEntry.merchantId, ctx.merchantId), after))
    .orderBy(desc(auditEntry.id))
    .limit(input.limit + 1);
}
