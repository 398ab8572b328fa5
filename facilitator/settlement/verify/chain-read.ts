import type { Address, Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import type { AuthorizationRead, AuthorizationState, Chain } from "../../chain/port.ts";
import { WALLET_GAS_CAP } from "../lane/gas.ts";

/** Reads one authorization against the chain, together with whoever asks at the same time. */
export type ReadAuthorization = (
  item: AuthorizationRead & { readonly claimKey: Hash },
) => Promise<PayerState>;

/** What a read together with others says. Nothing of a payer that is a contract, or an account that is delegated to one
 *  (EIP-7702): it is read alone. */
export type PayerState = (AuthorizationState & { readonly payerHasCode: false }) | typeof withCode;

const withCode = { payerHasCode: true } as const;

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

/** Reads many at once, those of payers without code. Where somebody has code the others are read again: what a token asks
 *  of a payer's code may burn the gas of everybody behind it, and of the whole call. Faults: `chain_unavailable`. */
export async function readTogether(
  chain: Chain,
  from: Address,
  items: readonly AuthorizationRead[],
): Promise<readonly PayerState[]> {
  const [together, code] = await Promise.allSettled([
    chain.readAuthorizations(from, items),
    chain.haveCode(items.map(({ payer }) => payer)),
  ]);
  if (code.status === "rejected") throw code.reason;
  const plain = items.filter((_, i) => !code.value[i]);
  if (plain.length === items.length && together.status === "rejected") throw together.reason;
  const states =
    together.status === "fulfilled" && plain.length === items.length
      ? together.value
      : await readPlain(chain, from, plain);
  const next = states.values();
  return items.map((_, i) => {
    if (code.value[i]) return withCode;
    const { value: state } = next.next();
    if (!state) throw new Error("the chain answered fewer authorizations than it was asked");
    return { ...state, payerHasCode: false };
  });
}

async function readPlain(chain: Chain, from: Address, plain: readonly AuthorizationRead[]) {
  return plain.length > 0 ? chain.readAuthorizations(from, plain) : [];
}

/** What the chain says of one whose payer has code: its very call, with the gas that a wallet may use. */
export async function readAlone(
  chain: Chain,
  from: Address,
  item: AuthorizationRead,
): Promise<AuthorizationState> {
  const [[state], [outcome]] = await Promise.all([
    chain.readAuthorizations(from, [item]),
    chain.simulate(from, [item.transfer], WALLET_GAS_CAP),
  ]);
  if (!state || !outcome) throw new Error("the chain answered nothing for a lone authorization");
  return { ...state, transfer: outcome };
}

/** What the chain says of all of them: those without code together, each of the others alone. */
export async function readApart(
  chain: Chain,
  from: Address,
  items: readonly AuthorizationRead[],
): Promise<readonly AuthorizationState[]> {
  const states: AuthorizationState[] = [];
  for (const [i, state] of (await readTogether(chain, from, items)).entries())
    states.push(state.payerHasCode ? await readAlone(chain, from, items[i] as AuthorizationRead) : state);
  return states;
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
  const states = await readTogether(chain, from, items);
  const seen = new Set<string>();
  return states.map((state, i) => {
    const account = `${items[i]?.token}${items[i]?.payer}`;
    const behind = seen.has(account);
    seen.add(account);
    return { state, behind };
  });
}

/** An item that failed behind another of its payer is judged again in a later group. */
async function judgedAlone(
  read: (item: AuthorizationRead) => Promise<Judged>,
  item: AuthorizationRead,
): Promise<PayerState> {
  let judged = await read(item);
  for (let round = 1; round < MAX_ROUNDS && judged.behind && isFailed(judged.state); round += 1) {
    judged = await read(item);
  }
  return judged.state;
}

const isFailed = (state: PayerState) => !state.payerHasCode && !state.transfer.ok;
