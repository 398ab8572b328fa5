import { type Address, checksum } from "#kernel/bytes";
import { GET_BLOCK_NUMBER, GET_BLOCK_TIMESTAMP } from "./evm/multicall.ts";
import type { Chain, Rail, TokenFacts } from "./port.ts";
import type { TokenRow } from "./registry.ts";

/** aggregate3 as it should work, or one sentence why it does not. */
type MulticallCheck = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** Two calls, since one alone would not go through aggregate3. */
const PROBES = [GET_BLOCK_NUMBER, GET_BLOCK_TIMESTAMP];
const PROBE_GAS = 500_000n;
const NOBODY = `0x${"0".repeat(40)}` as Address;

/** Every configured token of the chain, compared with what its contract says. Rejects with `chain_unavailable` when
 *  the chain cannot be asked: that is no mismatch. Source: x402.md §11. */
export function checkRails(chain: Chain): Promise<Rail[]> {
  return Promise.all(
    chain.row.tokens.map(async (token): Promise<Rail> => {
      const facts = await chain.tokenFacts(token.contract);
      const problem = mismatch(token, facts);
      if (problem === null && facts.domain) {
        return { ok: true, token, domain: facts.domain, hasBytesOverload: facts.hasBytesOverload };
      }
      const where = `${token.symbol} on ${chain.row.slug} (${checksum(token.contract)})`;
      return { ok: false, token, problem: `${where}: ${problem ?? UNPROVED}` };
    }),
  );
}

const UNPROVED = "its EIP-712 domain is not proved, neither by eip712Domain() nor by DOMAIN_SEPARATOR()";

function mismatch(token: TokenRow, facts: TokenFacts): string | null {
  if (!facts.hasCode) return "expected a token contract, got an address without code";
  if (facts.symbol !== token.symbol)
    return `expected the symbol ${token.symbol}, got ${facts.symbol ?? "none"}`;
  if (facts.decimals !== token.decimals) {
    return `expected ${token.decimals} decimals, got ${facts.decimals ?? "none"}`;
  }
  if (!facts.knowsAuthorizations) return "expected EIP-3009, but authorizationState does not answer";
  return facts.domain ? null : UNPROVED;
}

/** Whether the chain's Multicall3 is there and answers as one. */
export async function checkMulticall(chain: Chain): Promise<MulticallCheck> {
  const { multicall, slug } = chain.row;
  if (multicall === null) return { ok: false, problem: `${slug} has no Multicall3: batches of one` };
  if ((await chain.code(multicall)) === "0x") {
    return {
      ok: false,
      problem: `expected Multicall3 at ${checksum(multicall)} on ${slug}, got no code: batches of one`,
    };
  }
  const calls = PROBES.map((data) => ({ to: multicall, data }));
  const outcomes = await chain.simulate(NOBODY, calls, PROBE_GAS);
  const answered = outcomes.every(({ ok, data }) => ok && data.length === 66);
  return answered
    ? { ok: true }
    : {
        ok: false,
        problem: `the contract at ${checksum(multicall)} on ${slug} is no Multicall3: batches of one`,
      };
}

/** One sentence why payments through the chain's router are refused; null when it is our operator's, or none is set.
 *  Rejects with `chain_unavailable` when the chain cannot be asked. */
export async function checkRouter(chain: Chain, operator: Address): Promise<string | null> {
  const { router, slug } = chain.row;
  if (router === null) return null;
  const where = `the router at ${checksum(router)} on ${slug}`;
  if ((await chain.code(router)) === "0x")
    return `${where}: expected a contract, got an address without code`;
  const named = await chain.routerOperator(router);
  if (named === operator) return null;
  const got = named === null ? "none" : checksum(named);
  return `${where}: expected the operator ${checksum(operator)}, got ${got}`;
}
