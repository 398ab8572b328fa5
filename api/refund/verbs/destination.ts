import type { Facilitator } from "#facilitator";
import { type Address, address as addressOf } from "#kernel/bytes";
import type { Tx } from "#store";
import { checkRecipient } from "../../clearing/verbs/recipient.ts";
import { tokenOf } from "./token.ts";

interface At {
  readonly chain: string;
  readonly asset: string;
  readonly pointer: string;
}

/** A merchant's word on where a refund goes. Faults: `validation_failed`, `recipient_is_ours`, `rail_unsupported`. */
export async function checkDestination(
  { facilitator }: { readonly facilitator: Pick<Facilitator, "chains" | "outgoing"> },
  tx: Tx,
  named: string,
  { chain, asset, pointer }: At,
): Promise<Address> {
  const recipient = addressOf(named);
  tokenOf(facilitator, { chain, asset });
  await checkRecipient({ facilitator }, tx, { chain, recipient, pointer });
  return recipient;
}
