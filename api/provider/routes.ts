import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import type { Facilitator } from "#facilitator";
import type { Clock } from "#kernel/clock";
import { fault } from "../http/faults.ts";
import { limitByAddress } from "../http/limit.ts";
import { body, bodyFaults, json, problems, secretKey, secretKeyFaults } from "../http/route.ts";
import { readBytes } from "../http/strict-json.ts";
import type { Providers } from "./port.ts";
import type { Sandbox } from "./sandbox.ts";
import {
  ClockAdvance,
  ClockAdvanced,
  ProviderPath,
  Received,
  Reorg,
  SimulatedDeposit,
  SimulatedDepositInput,
} from "./schema.ts";
import { simulateDeposit } from "./verbs/deposit.ts";
import { receive } from "./verbs/receive.ts";
import { advanceClock, reorganize } from "./verbs/world.ts";

/** Source: merchant-api.md §3.3. */
const CALLBACK_LIMIT = 1_024 * 1_024;

/** Where providers call back. No key: who calls is told by the signature over the exact bytes. The time that a
 *  signature is judged by is the machine's, which a sandbox does not move. Source: interface §4, merchant-api.md §6.5. */
export function callbackRoutes({
  providers,
  clock,
}: {
  readonly providers: Providers;
  readonly clock: Clock;
}) {
  const callback = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/provider-webhooks/{provider}",
      tags: ["provider callbacks"],
      security: [],
      middleware: [limitByAddress("provider-webhook")],
      summary: "A provider tells that something changed",
      description:
        "The body is taken as the bytes that were signed, at most 1 MiB. Answers 200 once the event is kept, and for " +
        "one that came before. An event is a hint: the provider is read before anything moves.",
      request: {
        params: ProviderPath,
        body: { required: true, content: { "*/*": { schema: z.string().openapi({ format: "binary" }) } } },
      },
      responses: {
        200: json(Received, "Kept"),
        ...problems(
          "not_found",
          "signature_invalid",
          "body_too_large",
          "invalid_json",
          "invalid_service_version",
        ),
      },
    }),
    handler: async (c) => {
      const { provider } = c.req.valid("param");
      const adapter = providers.get(provider);
      if (!adapter) throw fault("not_found");
      const raw = await readBytes(c.req.raw, CALLBACK_LIMIT);
      const events = await adapter.verifyWebhook(raw, c.req.raw.headers, clock.now());
      const { db, newId } = c.var.edge;
      await receive({ db, newId, now: () => clock.now() }, { provider, raw, events });
      return c.json({ received: true } as const, 200);
    },
  });
  return [callback] as const;
}

const testing = { tags: ["sandbox"], ...secretKey({ permission: "merchant:manage" }) };

/** What a sandbox can be made to live through; these routes exist nowhere else. Source: merchant-api.md §2.7, §10.7. */
export function sandboxRoutes({
  chain,
  clock: movable,
  provider,
  facilitator,
  machine,
}: Sandbox & { readonly facilitator: Facilitator; readonly machine: Clock }) {
  const payer = { chain, provider, facilitator, clock: machine };
  const deposit = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...testing,
      method: "post",
      path: "/v1/test/deposits",
      summary: "Pay as a payer would",
      description:
        "Sends dev tokens to the address of the payment's order, calls the router with its order, or lets the " +
        "simulated provider's payer pay. What comes of it is seen at the payment. A delayed one is forgotten when the " +
        "process ends that took it.",
      request: { body: body(SimulatedDepositInput) },
      responses: {
        200: json(SimulatedDeposit, "Sent, or going to be"),
        ...problems(
          ...secretKeyFaults,
          ...bodyFaults,
          "not_found",
          "simulation_impossible",
          "chain_unavailable",
          "currency_unsupported",
          "too_many_decimals",
        ),
      },
    }),
    handler: async (c) =>
      c.json(await simulateDeposit(payer, { ctx: c.var.merchant, input: c.req.valid("json") }), 200),
  });
  const advance = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...testing,
      method: "post",
      path: "/v1/test/advance-clock",
      summary: "Move the merchant clock of the deployment forward",
      description:
        "Intents, orders and subscriptions live by this clock. Authorizations, chains, leases and signatures of " +
        "callbacks go by real time. The clock stays moved, for every merchant, until the deployment is reset.",
      request: { body: body(ClockAdvance) },
      responses: {
        200: json(ClockAdvanced, "Every process goes by it now"),
        ...problems(...secretKeyFaults, ...bodyFaults, "simulation_impossible"),
      },
    }),
    handler: async (c) =>
      c.json(await advanceClock(movable, { ctx: c.var.merchant, input: c.req.valid("json") }), 200),
  });
  const reorg = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...testing,
      method: "post",
      path: "/v1/test/reorg",
      summary: "Reorganise the local chain",
      description:
        "The newest blocks are replaced by empty ones: payments in them are gone, and sent again where the service " +
        "sent them. Blocks that are final stay.",
      request: { body: body(Reorg) },
      responses: {
        200: json(Reorg, "Done"),
        ...problems(...secretKeyFaults, ...bodyFaults, "simulation_impossible", "chain_unavailable"),
      },
    }),
    handler: async (c) =>
      c.json(await reorganize(chain, { ctx: c.var.merchant, input: c.req.valid("json") }), 200),
  });
  return [deposit, advance, reorg] as const;
}
