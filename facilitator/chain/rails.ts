import { type Address, checksum } from "#kernel/bytes";
import { GET_BLOCK_NUMBER, GET_BLOCK_TIMESTAMP } from "./evm/multicall.ts";
import type { Chain, LiveRail, Rail, TokenFacts } from "./port.ts";
import type { TokenRow } from "./registry.ts";
import { isUnavailable } from "./unavailable.ts";

/** aggregate3 as it should work, or one sentence why it does not. */
export type MulticallCheck = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** Two calls, since one alone would not go through aggregate3. */
const PROBES = [GET_BLOCK_NUMBER, GET_BLOCK_TIMESTAMP];
const PROBE_GAS = 500_000n;
const NOBODY = `0x${"0".repeat(40)}` as Address;

/** Every configured token of the chain, compared with what its contract says. One of which that could not be heard is
 *  refused until it is. Source: x402.md §11. */
export function checkRails(chain: Chain): Promise<Rail[]> {
  return Promise.all(chain.row.tokens.map((token) => checkRail(chain, token)));
}

async function checkRail(chain: Chain, token: TokenRow): Promise<Rail> {
  const refused = (problem: string, { isUnheard = false } = {}): Rail => ({
    ok: false,
    token,
    problem: `${placeOf(chain, token)}: ${problem}`,
    isUnheard,
  });
  const facts = await chain.tokenFacts(token.contract).catch(unheard);
  if (facts === null) return refused(UNHEARD, { isUnheard: true });
  const problem = mismatch(token, facts);
  if (problem !== null || !facts.domain) return refused(problem ?? UNPROVED);
  const { domain, hasBytesOverload, codeHash } = facts;
  return { ok: true, token, domain, hasBytesOverload, codeHash, paused: null };
}

function unheard(error: unknown): null {
  if (isUnavailable(error)) return null;
  throw error;
}

/** The same rails, looked at again: those that were taken are paused where their contracts are not what they were then, as
 *  an issuer may put another behind a proxy; who starts anew decides that it is to be taken as it is now. Those that were
 *  refused are taken where that was an endpoint's mistake, or where the contract is there now. Rejects with
 *  `chain_unavailable` when the chain cannot be asked about one that is taken: that is no change. Source: security.md §1. */
export function recheckRails(chain: Chain, rails: readonly Rail[]): Promise<Rail[]> {
  return Promise.all(
    rails.map(async (rail): Promise<Rail> => {
      if (!rail.ok) return checkRail(chain, rail.token);
      const change = changed(rail, await chain.tokenFacts(rail.token.contract));
      return { ...rail, paused: change && `${placeOf(chain, rail.token)}: ${change}` };
    }),
  );
}

/** Whether payments are taken in it now. */
export function isTaken(rail: Rail): rail is LiveRail {
  return rail.ok && rail.paused === null;
}

function changed(before: LiveRail, facts: TokenFacts): string | null {
  const problem = mismatch(before.token, facts);
  if (problem !== null) return problem;
  if (facts.domain?.name !== before.domain.name || facts.domain.version !== before.domain.version)
    return "its EIP-712 domain has changed";
  return facts.codeHash === before.codeHash ? null : "its code has changed";
}

const placeOf = (chain: Chain, { symbol, contract }: TokenRow) =>
  `${symbol} on ${chain.row.slug} (${checksum(contract)})`;

const UNHEARD =
  "what its contract is could not be heard from its endpoints alike; they are asked again in a moment";
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
  const facts = await chain.routerFacts(router);
  if (!facts.hasCode) return `${where}: expected a contract, got an address without code`;
  if (facts.operator === operator) return null;
  const got = facts.operator === null ? "none" : checksum(facts.operator);
  return `${where}: expected the operator ${checksum(operator)}, got ${got}`;
}
