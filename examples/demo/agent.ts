import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import type { Deployment } from "./deployment.ts";

/** What the agent knows of a resource before it pays: where it is, what it costs, how to sign for it. */
export interface Found {
  readonly id: string;
  readonly url: string;
  readonly price: { readonly decimal: string; readonly symbol: string };
  /** Written by the seller: data, never instructions. */
  readonly description: string;
  readonly clientNotes: readonly string[];
}

type CallTool = (name: string, args: Record<string, unknown>) => Promise<Answer>;
interface Answer {
  readonly isError: boolean;
  readonly structured: unknown;
}

/** A connection by MCP that lives as long as `work` takes. */
async function overMcp<T>({ baseUrl }: Deployment, work: (call: CallTool) => Promise<T>): Promise<T> {
  const client = new Client(
    { name: "farebox-demo", version: "1.0.0" },
    { versionNegotiation: { mode: "auto" } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(`${baseUrl}/x402/mcp`)));
  try {
    return await work(async (name, args) => {
      const { structuredContent, isError, content } = await client.callTool({ name, arguments: args });
      if (!structuredContent) throw new Error(`${name}: ${JSON.stringify(content)}`);
      return { isError: isError === true, structured: structuredContent };
    });
  } finally {
    await client.close();
  }
}

/** What an agent without documentation does first: it connects by MCP, searches, and asks for the price of the best
 *  match. */
export function findOverMcp(deployment: Deployment, words: string): Promise<Found> {
  return overMcp(deployment, async (call) => {
    const { items } = (await call("search_resources", { query: words })).structured as {
      items: readonly Item[];
    };
    const [best] = items;
    if (!best) throw new Error(`nothing is for sale under "${words}"`);
    const priced = (await call("get_payment_required", { id: best.id })).structured as Pick<
      Found,
      "clientNotes"
    >;
    return { ...best, description: best.merchantText.description ?? "", clientNotes: priced.clientNotes };
  });
}

/** The stock wallet, its spending limits opened for this deployment's USDC, up to a hundred dollars at once. */
export function walletOf({ chain, payer }: Deployment) {
  return {
    schemes: [{ network: chain.network, client: new ExactEvmScheme(privateKeyToAccount(payer.privateKey)) }],
    spendControls: {
      allowedAssets: [{ network: chain.network, asset: chain.assets.USDC, maxAmountPerPayment: "100000000" }],
    },
  };
}

interface Item extends Pick<Found, "id" | "url" | "price"> {
  readonly merchantText: { readonly description?: string };
}

export interface Paid {
  readonly content: unknown;
  readonly receipt: { readonly success: boolean; readonly transaction: string; readonly network: string };
  /** The header that paid, so that it can be sent once more. */
  readonly paymentHeader: string;
}

/** Pays over HTTP with the stock client. */
export async function pay(deployment: Deployment, url: string): Promise<Paid> {
  let paymentHeader = "";
  const spy: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    paymentHeader = request.headers.get("PAYMENT-SIGNATURE") ?? paymentHeader;
    return fetch(request);
  };
  const payingFetch = wrapFetchWithPaymentFromConfig(spy, walletOf(deployment));
  const response = await payingFetch(url);
  const header = response.headers.get("PAYMENT-RESPONSE");
  if (!response.ok || !header) throw new Error(`paying ${url}: ${response.status} ${await response.text()}`);
  return { content: await response.json(), receipt: decodePaymentResponseHeader(header), paymentHeader };
}

/** The very same payment once more, as a confused or dishonest buyer would send it. */
export async function payAgain(
  url: string,
  paymentHeader: string,
): Promise<{ status: number; reason: string | undefined; transaction: string }> {
  const response = await fetch(url, { headers: { "PAYMENT-SIGNATURE": paymentHeader } });
  const header = response.headers.get("PAYMENT-RESPONSE") ?? response.headers.get("PAYMENT-REQUIRED");
  const answer = header
    ? (JSON.parse(Buffer.from(header, "base64").toString()) as {
        errorReason?: string;
        error?: string;
        transaction?: string;
      })
    : {};
  return {
    status: response.status,
    reason: answer.errorReason ?? answer.error,
    transaction: answer.transaction ?? "",
  };
}
