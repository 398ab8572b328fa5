import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import type { Deployment } from "./deployment.ts";

/** One entry of the discovery index. */
export interface Found {
  readonly resource: string;
  readonly description: string;
  readonly accepts: readonly { readonly asset: string; readonly amount: string; readonly network: string }[];
  readonly id: string;
}

/** What an agent without documentation does first: ask the index. */
export async function search({ baseUrl }: Deployment, words: string): Promise<readonly Found[]> {
  const response = await fetch(`${baseUrl}/x402/discovery/search?query=${encodeURIComponent(words)}`);
  return ((await response.json()) as { resources: readonly Found[] }).resources;
}

export interface Paid {
  readonly content: unknown;
  readonly receipt: { readonly success: boolean; readonly transaction: string; readonly network: string };
  /** The header that paid, so that it can be sent once more. */
  readonly paymentHeader: string;
}

/** Pays with the stock client. Its spending limits are opened for the deployment's USDC, up to five dollars at once. */
export async function pay({ chain, payer }: Deployment, url: string): Promise<Paid> {
  let paymentHeader = "";
  const spy: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    paymentHeader = request.headers.get("PAYMENT-SIGNATURE") ?? paymentHeader;
    return fetch(request);
  };
  const payingFetch = wrapFetchWithPaymentFromConfig(spy, {
    schemes: [{ network: chain.network, client: new ExactEvmScheme(privateKeyToAccount(payer.privateKey)) }],
    spendControls: {
      allowedAssets: [{ network: chain.network, asset: chain.assets.USDC, maxAmountPerPayment: "5000000" }],
    },
  });
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
