import { createRoute, defineOpenAPIRoute, z } from "@hono/zod-openapi";
import { PaymentPath } from "../clearing/schema.ts";
import type { PaymentDesk } from "../clearing/verbs/payment.ts";
import type { FindBuyer } from "../customer/verbs.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import { json, problems, secretKey, secretKeyFaults } from "../http/route.ts";
import { amountsRefunded, type RefundSums } from "./refunded.ts";
import { PaymentQuery, PaymentRead, PaymentSummary } from "./schema.ts";
import { listPayments, readPayment } from "./verbs.ts";

const payments = { tags: ["payments"], ...secretKey({ permission: "payments:read" }) };

/** What showing payments over HTTP needs. */
interface PaymentsDesk extends PaymentDesk {
  readonly refunds: RefundSums;
  readonly buyers: FindBuyer;
}

/** Payments as they stand, by the id of the intent or of the clearing. */
export function paymentRoutes({ refunds, buyers, ...desk }: PaymentsDesk) {
  const list = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payments",
      summary: "List the merchant's payments",
      ...payments,
      request: { query: PageQuery.extend(PaymentQuery.shape) },
      responses: {
        200: json(z.array(PaymentSummary), "Newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const { customerId, ...rest } = filter;
      const buyer = customerId === undefined ? undefined : await buyers(c.var.merchant, customerId);
      const input = { ...page, ...rest, ...(buyer !== undefined && { buyer }) };
      const found = await listPayments(desk, { ctx: c.var.merchant, input });
      const shown = pageOf(c, page, found, filter);
      const refunded = await amountsRefunded(refunds, c.var.merchant, shown);
      return c.json(
        shown.map(({ paymentIntent, clearing }, i) => ({
          ...{ paymentIntent, clearing },
          amountRefunded: refunded[i] ?? null,
        })),
        200,
      );
    },
  });

  const read = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payments/{id}",
      summary: "Read a payment",
      ...payments,
      request: { params: PaymentPath },
      responses: {
        200: json(PaymentRead, "Intent, clearing, deposit and timeline"),
        ...problems(...secretKeyFaults, "not_found"),
      },
    }),
    handler: async (c) => {
      const payment = await readPayment(desk, { ctx: c.var.merchant, input: c.req.valid("param") });
      const [amountRefunded = null] = await amountsRefunded(refunds, c.var.merchant, [payment]);
      return c.json({ ...payment, amountRefunded }, 200);
    },
  });

  return [list, read] as const;
}
