/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { isId } from "#kernel/id";
import type { PaymentPosition } from "../../clearing/schema.ts";
import { readExcess } from "../../clearing/verbs/excess.ts";
import { readReturned } from "../../clearing/verbs/returned.ts";
import { readProof } from "../../documents/verbs.ts";
import type { MerchantCtx } from "../../http/context.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { undeliveredOfPayment } from "../../mail/verbs/undelivered.ts";
import { PaymentFilter } from "../../payment/schema.ts";
import { readPayment } from "../../payment/verbs.ts";
import { listRefunds, readRefund } from "../../refund/verbs/read.ts";
import { refundedOf } from "../../refund/verbs/refunded.ts";
import { instantsOf } from "../days.ts";
import { parseQuery } from "../form.ts";
import type { Show } from "../room.tsx";
import type { Section } from "../section.ts";
import { furnishActs, type PaymentsDesk } from "./acts.ts";
import { PaymentPage } from "./detail.tsx";
import { PaymentsPage } from "./list.tsx";
import { listShown } from "./listed.ts";

export function paymentsSection(desk: PaymentsDesk): Section {
  return {
    place: "payments",
    furnish(room) {
      room.page("/dashboard/payments", listOf(desk));
      room.page("/dashboard/payments/:id", paymentOf(desk));
      room.page("/dashboard/payments/:id/proof.json", proofOf(desk));
      furnishActs(room, desk, paymentOf(desk));
    },
  };
}

const PAGE = 25;
const MOST_REFUNDS = 100;

function listOf({ clearing }: PaymentsDesk): Show {
  return async ({ c, ctx }) => {
    const { cursor, ...asked } = query(c);
    const { find, from, to, ...shown } = asked;
    if (find !== undefined && (isId("pi", find) || isId("clr", find) || isId("re", find)))
      return c.redirect(`/dashboard/payments/${find}`, 303);
    const filter = parseQuery(PaymentFilter, { ...shown, ...findBy(find), ...between({ from, to }) });
    const page = readPage(c, { limit: PAGE, cursor }, filter);
    const found = await listShown(clearing, { ctx, input: { ...page, ...filter } });
    const { rows, next } = shownPage(c, page, found, filter);
    return {
      title: "Payments",
      body: <PaymentsPage filter={asked} rows={rows} next={next} baseUrl={clearing.baseUrl} />,
    };
  };
}

function paymentOf({ clearing }: PaymentsDesk): Show {
  return async ({ c, ctx }) => {
    const input = { id: c.req.param("id") ?? "" };
    if (isId("re", input.id)) {
      const { paymentIntentId } = await readRefund({ ctx, input });
      return c.redirect(`/dashboard/payments/${paymentIntentId}`, 303);
    }
    const payment = await readPayment(clearing, { ctx, input });
    const refunds = await listRefunds({ ctx, input: { ...input, limit: MOST_REFUNDS, after: null } });
    const excess = await readExcess({ ctx, input });
    const returned = await readReturned(clearing, { ctx, input });
    const mails = await undeliveredOfPayment({ ctx, input });
    const refunded = await refundedFor(ctx, payment);
    const notice = c.req.query("notice");
    return {
      title: `Payment of ${payment.paymentIntent.amount.display}`,
      body: <PaymentPage {...{ payment, refunds, refunded, excess, returned, mails, notice }} />,
    };
  };
}

async function refundedFor({ merchantId, db }: MerchantCtx, { clearing }: PaymentPosition) {
  if (clearing?.state !== "settled") return null;
  const found = await refundedOf(db.pool, { merchantId, ids: [clearing.id as `clr_${string}`] });
  return found.get(clearing.id) ?? null;
}

/** A file to keep: whoever is shown it can check it without us. */
function proofOf({ documents }: PaymentsDesk): Show {
  return async ({ c, ctx }) => {
    const input = { id: c.req.param("id") ?? "" };
    const proof = await readProof(documents, { ctx, input });
    c.header("Content-Disposition", `attachment; filename="proof-${proof.proof.paymentIntentId}.json"`);
    return c.json(proof);
  };
}

/** What the address asks for; what was left empty is left out. */
function query(c: Context) {
  const given = (name: string) => c.req.query(name)?.trim() || undefined;
  return {
    status: given("status"),
    reviewRequired: given("reviewRequired"),
    find: given("find"),
    from: given("from"),
    to: given("to"),
    cursor: given("cursor"),
  };
}

function findBy(text: string | undefined) {
  if (text === undefined) return {};
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return { txHash: text };
  return /^[^@\s]+@[^@\s]+$/.test(text) ? { customerEmail: text } : { merchantReference: text };
}

/** The payments made on these days. */
function between(days: Parameters<typeof instantsOf>[0]) {
  const { from, to } = instantsOf(days);
  return {
    ...(from === undefined ? {} : { createdFrom: from }),
    ...(to === undefined ? {} : { createdTo: to }),
  };
}
