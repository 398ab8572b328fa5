import { type Address, address, hash } from "#kernel/bytes";
import type { ChainRow } from "../../../facilitator/chain/registry.ts";
import type { Payable } from "../../../facilitator/payable/payable.ts";
import type { OfferedRail } from "../../../facilitator/payable/requirements.ts";

const at = new Date("2026-08-11T09:30:00.000Z");

export function payableOf(changes: Partial<Payable> = {}): Payable {
  return {
    id: "x402r_1",
    kind: "resource",
    merchantId: "mer_1",
    merchantName: "Weather House",
    url: "https://m.example/weather",
    title: null,
    description: "",
    mimeType: "application/json",
    price: { amount: 10_000n, asset: "USD" },
    rails: [],
    maxTimeoutSeconds: 300,
    paymentFlow: "authorization",
    serviceName: null,
    tags: [],
    iconUrl: null,
    extensions: {},
    feeBps: 50,
    once: false,
    listed: false,
    closedAt: null,
    createdAt: at,
    updatedAt: at,
    ...changes,
  };
}

export function chainOf(changes: { slug: string; chainId: number } & Partial<ChainRow>): ChainRow {
  return {
    network: `eip155:${changes.chainId}`,
    v1Name: null,
    isLocal: true,
    explorer: null,
    rpcUrls: [],
    rpcPerSecond: null,
    blockTimeSeconds: 1,
    inclusionSeconds: 3,
    depth: { x402: 1, standard: 1, high: 1 },
    router: null,
    treasury: address(`0x${"aa".repeat(20)}`),
    tokens: [],
    multicall: null,
    batchLimit: 1,
    transactionGasCap: 16_000_000n,
    maxFeePerGasCap: 1n,
    dailyLimits: new Map(),
    approvalsAbove: new Map(),
    gasBudgets: { payer: 1n, newPayer: 1n, payable: 1n, merchant: 1n, chain: 1n },
    dustFloor: 1n,
    ...changes,
  };
}

export function offered(
  chain: ChainRow,
  { symbol, contract, decimals = 6 }: { symbol: string; contract: Address; decimals?: number },
): OfferedRail {
  return {
    chain,
    rail: {
      ok: true,
      token: { symbol, contract, decimals },
      domain: { name: `${symbol} name`, version: "2", chainId: chain.chainId, verifyingContract: contract },
      hasBytesOverload: true,
      codeHash: hash(`0x${"0".repeat(64)}`),
      paused: null,
    },
  };
}
