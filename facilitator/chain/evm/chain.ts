import type { Clock } from "#kernel/clock";
import type { Log } from "#kernel/log";
import { systemClock } from "#kernel/system";
import type { Chain } from "../port.ts";
import { checkMulticall, type MulticallCheck } from "../rails.ts";
import type { ChainRow } from "../registry.ts";
import { isUnavailable } from "../unavailable.ts";
import { findAuthorizationUse, isValidSignature } from "./authorization.ts";
import { tokenBalance, tokenBalances } from "./balances.ts";
import { blockAt, nativeBalance, nonceOf, receiptOf, taggedBlock } from "./blocks.ts";
import { type OnRpc, openClient } from "./client.ts";
import { haveCode } from "./code.ts";
import { estimateFees } from "./fees.ts";
import { moneyLogs } from "./logs.ts";
import { readAuthorizations, simulate } from "./read.ts";
import type { Room } from "./room.ts";
import { routerFacts } from "./router.ts";
import { sendRaw } from "./send.ts";
import { codeOf, tokenFacts } from "./token-facts.ts";
import { readAlike } from "./witnesses.ts";

/** A chain behind JSON-RPC endpoints. Rejects when an endpoint is of another chain (an error that names what to set)
 *  and with `chain_unavailable` when none answers. Without a working Multicall3 its row says so: batches of one. */
export async function openEvmChain(parts: {
  readonly row: ChainRow;
  readonly log: Log;
  readonly onRpc?: OnRpc | undefined;
  readonly onDisagreement?: Room["onDisagreement"];
  readonly clock?: Clock | undefined;
}): Promise<Chain> {
  const { row, log, onRpc, onDisagreement, clock = systemClock } = parts;
  const rpc = await openClient({ row, clock, log, onRpc });
  const room: Room = { row, rpc, log, onDisagreement, seen: null };
  const multicall = await multicallOf(room);
  if (multicall.ok) return chainOf(room);
  log.warn({ chain: row.slug }, multicall.problem);
  return chainOf({ ...room, row: { ...row, multicall: null, batchLimit: 1 } });
}

/** Only what two endpoints say alike takes it away, until the next start: a call that it does not answer fails anyway. */
function multicallOf(room: Room): Promise<MulticallCheck> {
  const { row, log } = room;
  return readAlike(room, "Multicall3", (alone) => checkMulticall(chainOf(alone))).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
    log.warn(
      { chain: row.slug },
      "whether Multicall3 is there could not be heard from two endpoints alike: it is taken as configured",
    );
    return { ok: true };
  });
}

function chainOf(room: Room): Chain {
  return {
    row: room.row,
    hasSpareCalls: room.rpc.hasSpareCalls,
    head: () => taggedBlock(room, "latest"),
    finalized: () => taggedBlock(room, "finalized"),
    blockAt: (number) => blockAt(room, number),
    moneyLogs: (block, ours, tokens = room.row.tokens.map(({ contract }) => contract)) =>
      moneyLogs(room, block, { ours, tokens }),
    findAuthorizationUse: (item) => findAuthorizationUse(room, item),
    readAuthorizations: (from, items) => readAuthorizations(room, from, items),
    simulate: (from, calls, gasLimit) => simulate(room, { from, calls, gasLimit }),
    nonce: (account, block) => nonceOf(room, account, block),
    nativeBalance: (account, block) => nativeBalance(room, account, block),
    tokenBalance: (token, account, block) => tokenBalance(room, token, account, block),
    tokenBalances: (token, accounts, block) => tokenBalances(room, token, accounts, block),
    code: (account) => codeOf(room, account),
    haveCode: (accounts) => haveCode(room, accounts),
    isValidSignature: (account, digest, signature) => isValidSignature(room, { account, digest, signature }),
    fees: () => estimateFees(room),
    send: (raw) => sendRaw(room, raw),
    receipt: (txHash) => receiptOf(room, txHash),
    tokenFacts: (token) => tokenFacts(room, token),
    routerFacts: (router) => routerFacts(room, router),
  };
}
