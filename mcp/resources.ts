import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import type { McpDeps, Members } from "./deps.ts";
import { findPayable, findResource } from "./find.ts";
import {
  callExample,
  clientNotes,
  merchantText,
  obstacle,
  presentPayable,
  priceOf,
  requiredOf,
  trustOf,
} from "./present.ts";

const BRIEF = { ttlMs: 30_000, cacheScope: "public" } as const;
const mimeType = "application/json";
const resourceTemplate = new ResourceTemplate("x402://resources/{id}", { list: undefined });
const payableTemplate = new ResourceTemplate("x402://payables/{id}", { list: undefined });

/** The public items as documents, for hosts that show resources to their model. The tools are complete without. */
export function registerResources(server: McpServer, { facilitator, wire }: McpDeps): void {
  server.registerResource(
    "resource",
    resourceTemplate,
    { title: "A paid resource", description: "Price and how to call it, by id", mimeType, cacheHint: BRIEF },
    async (uri, { id }) => {
      const offer = await findResource(facilitator, { id: String(id) });
      if (!offer || offer.state === "closed") throw new ResourceNotFoundError(uri.href);
      const { payable } = offer;
      const trust = await facilitator.trust(payable.id);
      return document(uri, {
        id: payable.id,
        price: priceOf(payable),
        paymentRequired: requiredOf(wire, offer),
        callExample: callExample(payable),
        clientNotes: clientNotes(wire, offer, trust),
        trust: trustOf(payable, trust),
        merchantText: merchantText(payable),
      });
    },
  );
  server.registerResource(
    "payable",
    payableTemplate,
    {
      title: "An invoice, link or intent",
      description: "Amount and state, by id",
      mimeType,
      cacheHint: BRIEF,
    },
    async (uri, { id }) => {
      const offer = await findPayable(facilitator, { id: String(id) });
      if (!offer) throw new ResourceNotFoundError(uri.href);
      const why = obstacle(offer);
      return document(uri, {
        ...presentPayable(offer),
        state: why ?? "open",
        ...(why === null && offer.options.length > 0 ? { paymentRequired: requiredOf(wire, offer) } : {}),
      });
    },
  );
}

function document(uri: URL, item: Members) {
  return { contents: [{ uri: uri.href, mimeType, text: JSON.stringify(item) }] };
}
