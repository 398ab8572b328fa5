import type { Refusal } from "../../scheme/reasons.ts";
import type { SettleAnswer } from "../verify/request.ts";
import type { Understood } from "../verify/understand.ts";
import { refusedAnswer } from "./answer.ts";
import type { AnswerId, answerReader } from "./places.ts";

/** What callers were answered under their ids. */
export interface Replaying {
  readonly findAnswers: ReturnType<typeof answerReader>;
}

/** The ids under which this caller may ask again, scoped to the payable. */
export function answerIds({
  request,
  payable,
}: Pick<Understood, "request" | "payable">): readonly AnswerId[] {
  const { idempotencyKey, paymentIdentifier } = request;
  const ids = [
    ...(idempotencyKey ? [{ scope: `key:${payable.id}`, id: idempotencyKey }] : []),
    ...(paymentIdentifier ? [{ scope: `identifier:${payable.id}`, id: paymentIdentifier }] : []),
  ];
  return ids.map((id) => ({ ...id, payloadHash: request.payloadHash() }));
}

/** The stored answer of an identical call with the same id; null when there is none yet. An id that stands for
 *  another payload is refused. */
export async function replay({ findAnswers }: Replaying, it: Understood): Promise<SettleAnswer | null> {
  const ids = answerIds(it);
  if (ids.length === 0) return null;
  const rows = await findAnswers(ids);
  const other = rows.find(({ payloadHash }) => payloadHash !== it.request.payloadHash());
  if (other) return idReused(it);
  const body = rows.find((row) => row.body !== null)?.body as SettleAnswer | undefined;
  return body ? { ...body, replayed: true } : null;
}

/** What settle says of an id that stands for another payload, and verify of such a payment identifier. */
export const reusedId: Refusal = {
  reason: "invalid_payload",
  message:
    "This Idempotency-Key or payment identifier was first used with another payload. Use a new one for a new payment.",
};

/** The caller's id stands for another payload: nothing of this one is charged. */
export function idReused({
  request,
  authorization,
}: Pick<Understood, "request" | "authorization">): SettleAnswer {
  return {
    ...refusedAnswer(request, reusedId, authorization.payer),
    outcome: "idempotency-key-reused",
  };
}

/** Whether somebody was told success under the identifier that this payload carries: then settle would replay. */
export async function isReplayable(replaying: Replaying, it: Understood): Promise<boolean> {
  const found = await findIdentified(replaying, it);
  return found.some(({ payloadHash, body }) => payloadHash === it.request.payloadHash() && body !== null);
}

/** Whether the identifier that this payload carries stands for another one: then settle would refuse. */
export async function isReused(replaying: Replaying, it: Understood): Promise<boolean> {
  const found = await findIdentified(replaying, it);
  return found.some(({ payloadHash }) => payloadHash !== it.request.payloadHash());
}

/** Most payloads carry none, and cost no look-up. */
async function findIdentified({ findAnswers }: Replaying, { request, payable }: Understood) {
  const id = request.paymentIdentifier;
  return id ? findAnswers([{ scope: `identifier:${payable.id}`, id }]) : [];
}
