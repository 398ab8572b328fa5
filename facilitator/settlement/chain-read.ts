import type { Address, Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import type { AuthorizationRead, AuthorizationState, Chain } from "../chain/port.ts";

/** Reads one authorization against the chain, together with whoever asks at the same time. */
export type ReadAuthorization = (
  item: AuthorizationRead & { readonly claimKey: Hash },
) => Promise<PayerState>;

export interface PayerState extends AuthorizationState {
  /** The payer is a contract, or an account that is delegated to one (EIP-7702). */
  readonly payerHasCode: boolean;
}

const GROUP = { maxInFlight: 2, maxItems: 100 };
const MAX_ROUNDS = 4;

/** A reader for one chain: at most two groups in flight, two calls each for up to 100 authorizations. Duplicates of one
 *  authorization share one place. Faults: `chain_unavailable`. */
export function authorizationReader(
  chain: Chain,
  from: Address,
  gathered: () => Promise<void>,
): ReadAuthorization {
  const read = coalesce({ ...GROUP, gathered }, (items: readonly AuthorizationRead[]) =>
    readGroup(chain, from, items),
  );
  const open = new Map<string, Promise<PayerState>>();
  return (item) => {
    // The call is part of the key: two signatures of one authorization must not answer for each other.
    const key = `${item.claimKey}${item.asksBalance ? "+" : ""}${item.transfer.data}`;
    const shared = open.get(key);
    if (shared) return shared;
    const result = judgedAlone(read, item).finally(() => open.delete(key));
    open.set(key, result);
    return result;
  };
}

interface Judged {
  readonly state: PayerState;
  /** Another item of the same payer stood before it and may have taken the money it failed for. */
  readonly behind: boolean;
}

async function readGroup(
  chain: Chain,
  from: Address,
  items: readonly AuthorizationRead[],
): Promise<readonly Judged[]> {
  const [states, withCode] = await Promise.all([
    chain.readAuthorizations(from, items),
    chain.haveCode(items.map(({ payer }) => payer)),
  ]);
  const seen = new Set<string>();
  return items.map((item, i) => {
    const state = states[i];
    if (!state) throw new Error("the chain answered fewer authorizations than it was asked");
    const account = `${item.token}${item.payer}`;
    const behind = seen.has(account);
    seen.add(account);
    return { state: { ...state, payerHasCode: withCode[i] ?? false }, behind };
  });
}

/** An item that failed behind another of its payer is judged again in a later group. */
async function judgedAlone(
  read: (item: AuthorizationRead) => Promise<Judged>,
  item: AuthorizationRead,
): Promise<PayerState> {
  let judged = await read(item);
  for (let round = 1; round < MAX_ROUNDS && judged.behind && !judged.state.transfer.ok; round += 1) {
    judged = await read(item);
  }
  return judged.state;
}
