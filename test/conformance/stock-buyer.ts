/** Buyers on unmodified x402 clients, with an ear on the line. */
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/client";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import type { Payer } from "../support/house.ts";

type Config = Parameters<typeof wrapFetchWithPaymentFromConfig>[1];

export interface Buyer {
  /** Fetches, and pays when asked to. */
  readonly pay: typeof fetch;
  /** Every payment header that was sent, in order. */
  readonly payments: string[];
}

/** A v2 client. Left out, its spending limits are those it was shipped with. */
export function stockBuyer(
  payer: Payer,
  network: `eip155:${number}`,
  spendControls?: Config["spendControls"],
): Buyer {
  const scheme = { network, client: new ExactEvmScheme(privateKeyToAccount(payer.key)) };
  return listening({ schemes: [scheme], ...(spendControls === undefined ? {} : { spendControls }) });
}

/** A v1 client with the limits it was shipped with. `network` is v1's name. Clients of v1's time never look at the v2
 *  header; the package does and prefers it, so it is kept from hearing of it. */
export function stockV1Buyer(payer: Payer, network: string): Buyer {
  const client = new ExactEvmSchemeV1(privateKeyToAccount(payer.key));
  const schemes = [{ network: network as `${string}:${string}`, client, x402Version: 1 }];
  return listening({ schemes }, ["PAYMENT-REQUIRED"]);
}

function listening(config: Config, unheard: readonly string[] = []): Buyer {
  const payments: string[] = [];
  const heard: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const payment = request.headers.get("PAYMENT-SIGNATURE") ?? request.headers.get("X-PAYMENT");
    if (payment !== null) payments.push(payment);
    const response = await fetch(request);
    const headers = new Headers(response.headers);
    for (const name of unheard) headers.delete(name);
    return new Response(response.body, { status: response.status, headers });
  };
  return { pay: wrapFetchWithPaymentFromConfig(heard, config), payments };
}

/** What a merchant's answer says in its headers. */
export function told(response: Response) {
  const challenge = response.headers.get("PAYMENT-REQUIRED");
  const receipt = response.headers.get("PAYMENT-RESPONSE") ?? response.headers.get("X-PAYMENT-RESPONSE");
  return {
    status: response.status,
    challenge: challenge === null ? null : decodePaymentRequiredHeader(challenge),
    receipt: receipt === null ? null : decodePaymentResponseHeader(receipt),
  };
}
