/** What the tests of the agents' door share: payables to pay, wallets to pay with, and clients of every kind. */
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Payable } from "#facilitator";
import { address } from "#kernel/bytes";
import { authorize } from "../support/authorization.ts";
import type { Payer, RunningHouse } from "../support/house.ts";

/** Projects something payable, as a merchant feature would. */
export async function projectPayable(
  { house, baseUrl }: Pick<RunningHouse, "house" | "baseUrl">,
  merchantId: string,
  changes: Partial<Payable> & Pick<Payable, "kind">,
): Promise<Payable> {
  const prefix = {
    "payment-link": "plink",
    invoice: "inv",
    "payment-intent": "pi",
    resource: "x402r",
  } as const;
  const id = changes.id ?? house.newId(prefix[changes.kind]);
  const now = new Date();
  const payable: Payable = {
    id,
    merchantId,
    merchantName: "Test Merchant",
    url: `${baseUrl}/x402/payables/${id}`,
    title: "A thing to pay",
    description: "Paid once, kept for ever",
    mimeType: "application/json",
    price: { amount: 10_000n, asset: "USD" },
    rails: [],
    maxTimeoutSeconds: 300,
    paymentFlow: "upfront",
    serviceName: null,
    tags: [],
    iconUrl: null,
    extensions: {},
    feeBps: 0,
    once: changes.kind !== "payment-link",
    listed: false,
    closedAt: null,
    createdAt: now,
    updatedAt: now,
    ...changes,
  };
  await house.db.tx((tx) => house.facilitator.project(tx, payable));
  return payable;
}

interface Required {
  readonly resource: { readonly url: string };
  readonly accepts: readonly {
    readonly network: string;
    readonly asset: string;
    readonly amount: string;
    readonly payTo: string;
    readonly extra: { readonly name: string; readonly version: string };
  }[];
  readonly [key: string]: unknown;
}

/** Signs the first option of a challenge, as a wallet does that knows nothing but the challenge. */
export async function signRequired(payer: Payer, required: unknown, lifeSeconds = 300) {
  const { resource, accepts } = required as Required;
  const [accepted] = accepts;
  if (!accepted) throw new Error("nothing to sign");
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + lifeSeconds);
  const signed = await authorize({
    domain: {
      ...accepted.extra,
      chainId: Number(accepted.network.split(":")[1]),
      verifyingContract: address(accepted.asset),
    },
    key: payer.key,
    to: accepted.payTo,
    value: BigInt(accepted.amount),
    validBefore,
  });
  return {
    x402Version: 2,
    resource,
    accepted,
    payload: {
      signature: signed.signature,
      authorization: {
        from: payer.address,
        to: accepted.payTo,
        value: accepted.amount,
        validAfter: "0",
        validBefore: validBefore.toString(),
        nonce: signed.nonce,
      },
    },
  };
}

/** A tool result as any client shows it. */
export interface Shown {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: an answer off the wire, compared whole by the tests
  readonly structuredContent?: any;
  readonly _meta?: Record<string, unknown>;
}
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations: Record<string, unknown>;
}
/** One client, of whatever make. */
export interface Agent {
  readonly kind: string;
  readonly version: string;
  readonly instructions: string;
  listTools(): Promise<readonly ListedTool[]>;
  call(name: string, args?: object, meta?: object): Promise<Shown>;
  readonly client: OldClient | NewClient;
  close(): Promise<void>;
}

const me = { name: "a test", version: "1.0.0" };
export const newModes = {
  default: undefined,
  auto: { mode: "auto" },
  pinned: { mode: { pin: "2026-07-28" } },
} as const;

type Fetch = typeof fetch;

/** The client of the older library, which knows the 2025 era only. */
export async function oldAgent(baseUrl: string, spy: Fetch = fetch): Promise<Agent> {
  const client = new OldClient(me);
  const transport = new OldTransport(new URL(`${baseUrl}/x402/mcp`), { fetch: spy });
  await client.connect(transport as never);
  return {
    kind: "v1",
    version: transport.protocolVersion ?? "",
    instructions: client.getInstructions() ?? "",
    listTools: async () => (await client.listTools()).tools as never,
    call: async (name, args = {}, meta) =>
      (await client.callTool({
        name,
        arguments: args as never,
        ...(meta ? { _meta: meta as never } : {}),
      })) as never,
    client,
    close: () => client.close(),
  };
}

/** The client of the newer library: 2025 unless it is told to negotiate or pinned. */
export async function newAgent(
  baseUrl: string,
  mode: keyof typeof newModes,
  spy: Fetch = fetch,
  capabilities: object = {},
): Promise<Agent> {
  const negotiation = newModes[mode];
  const client = new NewClient(me, {
    capabilities: capabilities as never,
    ...(negotiation ? { versionNegotiation: negotiation } : {}),
  });
  const transport = new NewTransport(new URL(`${baseUrl}/x402/mcp`), { fetch: spy });
  await client.connect(transport);
  return {
    kind: `v2 ${mode}`,
    version: client.getNegotiatedProtocolVersion() ?? "",
    instructions: client.getInstructions() ?? "",
    listTools: async () => (await client.listTools()).tools as never,
    call: async (name, args = {}, meta) =>
      (await client.callTool({
        name,
        arguments: args as never,
        ...(meta ? { _meta: meta as never } : {}),
      })) as never,
    client,
    close: () => client.close(),
  };
}
