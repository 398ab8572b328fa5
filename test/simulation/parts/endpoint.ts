/** The chain as one process sees it through its endpoint: late, forked, lying or not there at all. */
import type { Address } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import type {
  AuthorizationState,
  Call,
  CallOutcome,
  Chain,
  SendResult,
} from "../../../facilitator/chain/port.ts";
import type { ChainRow } from "../../../facilitator/chain/registry.ts";
import type { Choices } from "../../property/payments/random.ts";
import type { Faults } from "./faults.ts";
import { decodeRaw } from "./keys.ts";
import {
  ancestorAt,
  type Block,
  branchOf,
  FINAL_AFTER,
  pathBack,
  type Transaction,
  type Tree,
} from "./node.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import { decodeTransfer, type Signatures, Token } from "./token.ts";

export interface Surroundings {
  readonly row: ChainRow;
  readonly tree: Tree;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly chance: Choices;
  readonly signatures: Signatures;
  /** Told of bytes before they reach anybody. */
  readonly sending: (transaction: Transaction, lastRead: Block) => Promise<void>;
}

/** Where a process's endpoint stands. */
export interface View {
  /** A branch that will lose, while the endpoint follows it. */
  side: Block | null;
  /** Blocks that it does not know of yet. */
  behind: number;
  /** Its head when the process last looked at authorizations. */
  lastRead: Block | null;
}

const RICH = 10n ** 24n;

export function endpointOf(around: Surroundings, owner: Owner, view: View): Chain {
  const { row, tree, scheduler, faults, chance, signatures } = around;

  /** What this call is answered from: any node behind the endpoint. */
  function seen(): Block {
    const head = view.side ?? tree.tip;
    const behind = faults.strikes("lagging-view") ? 1 + chance.below(FINAL_AFTER - 1) : view.behind;
    return pathBack(head, behind).at(-1)?.parent ?? head;
  }

  function ask<T>(label: string, answer: (at: Block) => T): Promise<T> {
    return scheduler.call(owner, label, () => {
      if (faults.strikes("read-timeout", 0.5)) throw fault("chain_unavailable", { chain: row.slug });
      return answer(seen());
    });
  }

  const at = (from: Block, block: number | "latest"): Block => {
    if (block === "latest") return from;
    const found = ancestorAt(from, block);
    if (!found) throw fault("chain_unavailable", { chain: row.slug });
    return found;
  };

  /** Calls one after the other, each allowed to fail, in the block after this one. */
  function tryCalls({ token, ref }: Block, calls: readonly Call[]): readonly CallOutcome[] {
    const state = new Token(token);
    return calls.map((call): CallOutcome => {
      const transfer = decodeTransfer(call);
      const revert = transfer ? state.refusal(transfer, ref.timestamp + 1, signatures) : "unknown";
      if (revert !== null || !transfer) return { ok: false, revert: revert ?? "unknown", data: "0x" };
      state.execute(transfer);
      return { ok: true, data: "0x" };
    });
  }

  function gasSpent(account: Address, upTo: Block): bigint {
    let spent = 0n;
    for (const { transactions, receipts } of branchOf(upTo))
      for (const { hash, lane } of transactions) {
        const receipt = lane?.account === account ? receipts.get(hash) : undefined;
        if (receipt) spent += receipt.gasUsed * receipt.effectiveGasPrice;
      }
    return spent;
  }

  async function send(raw: Parameters<Chain["send"]>[0]): Promise<SendResult> {
    const transaction = decodeRaw(raw);
    return scheduler.call(
      owner,
      `send ${transaction.lane?.nonce} ${transaction.hash.slice(0, 8)}`,
      async () => {
        await around.sending(transaction, view.lastRead ?? tree.tip);
        if (faults.strikes("send-timeout-before", 5)) return "unknown";
        if (faults.strikes("send-refused", 4)) return "refused";
        if (faults.strikes("send-swallowed", 5)) return "accepted";
        const result = tree.admit(transaction);
        return faults.strikes("send-timeout-after", 9) ? "unknown" : result;
      },
    );
  }

  return {
    row,
    hasSpareCalls: () => true,
    head: () => ask("head", ({ ref }) => ref),
    finalized: () =>
      ask("finalized", (from) => {
        const { ref } = ancestorAt(from, from.ref.number - FINAL_AFTER) ?? first(from);
        tree.final = Math.max(tree.final, ref.number);
        return ref;
      }),
    blockAt: (number) => ask(`block ${number}`, (from) => ancestorAt(from, number)?.ref ?? null),
    moneyLogs: (block, ours) =>
      ask(`logs of ${block.number}`, (from) => {
        const found = ancestorAt(from, block.number);
        if (found?.ref.hash !== block.hash || faults.strikes("unknown-block", 2)) return null;
        const mine = new Set(ours);
        return found.logs.filter((log) => log.event !== "transfer" || mine.has(log.from) || mine.has(log.to));
      }),
    findAuthorizationUse: ({ payer, nonce, fromBlock }) =>
      ask("authorization use", (from) => {
        for (const { ref, logs } of branchOf(from)) {
          if (ref.number < fromBlock) return null;
          if (logs.some((log) => "nonce" in log && log.payer === payer && log.nonce === nonce)) return ref;
        }
        return null;
      }),
    readAuthorizations: (_lane, items) =>
      ask(`read ${items.length} authorizations`, (from) => {
        view.lastRead = view.side ?? tree.tip;
        const outcomes = tryCalls(
          from,
          items.map(({ transfer }) => transfer),
        );
        return items.map(
          ({ payer, nonce }, i): AuthorizationState => ({
            block: from.ref,
            balance: from.token.balanceOf(payer),
            used: from.token.isUsed(payer, nonce),
            transfer: outcomes[i] as CallOutcome,
          }),
        );
      }),
    simulate: (_lane, calls) => ask("simulate", (from) => tryCalls(from, calls)),
    nonce: (account, block) => ask("nonce", (from) => at(from, block).nonces.get(account) ?? 0),
    nativeBalance: (account, block) => ask("gas", (from) => RICH - gasSpent(account, at(from, block))),
    tokenBalance: (_token, account, block) =>
      ask("balance", (from) => at(from, block).token.balanceOf(account)),
    tokenBalances: (_token, accounts, block) =>
      ask("balances", (from) => accounts.map((account) => at(from, block).token.balanceOf(account))),
    code: (account) => ask("code", ({ token }) => (token.code.has(account) ? "0x01" : "0x")),
    haveCode: (accounts) =>
      ask("have code", ({ token }) => accounts.map((account) => token.code.has(account))),
    isValidSignature: () => ask("1271", () => false),
    fees: () =>
      ask("fees", () => ({
        baseFeePerGas: faults.strikes("fee-spike", 5) ? row.maxFeePerGasCap * 2n : tree.baseFee,
        maxPriorityFeePerGas: 1_000n,
        hasRoom: true,
      })),
    send,
    receipt: (txHash) =>
      ask(`receipt ${txHash.slice(0, 8)}`, (from) => {
        for (const { receipts, ref } of branchOf(from)) {
          const found = receipts.get(txHash);
          // One that is denied for good, by the only endpoint there is, is believed. What is final, or was told to be, is known
          // to every node.
          const mayLag = ref.number > Math.max(tree.tip.ref.number - FINAL_AFTER, tree.final);
          if (found && mayLag && faults.strikes("null-receipt", 6)) return null;
          if (found)
            return faults.strikes("false-receipt", 10) ? { ...found, succeeded: !found.succeeded } : found;
        }
        return null;
      }),
    tokenFacts: () => Promise.reject(new Error("nobody asks a made-up token what it is")),
    routerFacts: () => Promise.reject(new Error("nobody asks a made-up router what it is")),
  };
}

function first(from: Block): Block {
  return [...branchOf(from)].at(-1) ?? from;
}
