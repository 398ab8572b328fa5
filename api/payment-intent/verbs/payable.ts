import { agentUrl, type Payable } from "#facilitator";

/** How long an agent may take to sign what it is asked for, and to send it. */
export const MAX_TIMEOUT_SECONDS = 300;

type Sold = Pick<Payable, "id" | "merchantId" | "merchantName">;

/** What is alike of intents, links and invoices, which are paid at agent URLs. */
export function atAgentUrl(baseUrl: string, { id, merchantId, merchantName }: Sold) {
  return {
    ...{ id, merchantId, merchantName },
    url: agentUrl(baseUrl, id),
    mimeType: "application/json",
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    paymentFlow: "upfront",
    serviceName: null,
    tags: [],
    iconUrl: null,
    extensions: {},
  } as const;
}
