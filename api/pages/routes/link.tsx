/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { Fault } from "#kernel/fault";
import { isId } from "#kernel/id";
import { clientAddress, spend } from "../../http/limit.ts";
import { readForm, refuseForeignForm } from "../../http/manners.ts";
import { MoneyInput, writtenAmount } from "../../http/money.ts";
import { problems } from "../../http/route.ts";
import { CheckoutPath, PayForm } from "../schema.ts";
import { type Counter, page, whole } from "../serve.tsx";
import { payLink, readLinkView } from "../verbs/link.ts";
import { LinkPage } from "../view/link.tsx";
import { speechOf } from "../words/index.ts";

const wordOf: Readonly<Record<string, (typeof problemsShown)[number]>> = {
  validation_failed: "amountWrong",
  too_many_decimals: "amountWrong",
  amount_too_small: "amount_too_small",
  amount_too_large: "amount_too_large",
  link_not_payable: "linkPending",
  rail_unsupported: "rail_unsupported",
  merchant_suspended: "merchant_suspended",
};
const PayMoney = MoneyInput.optional();
const problemsShown = [
  "amountWrong",
  "amount_too_small",
  "amount_too_large",
  "linkPending",
  "rail_unsupported",
  "merchant_suspended",
] as const;
/** More than the page's own field takes is not written into it again. */
const TYPED_LENGTH = 20;

export function isLink(c: Context): boolean {
  return isId("plink", c.req.param("id") ?? "");
}

/** The page of a link: what it is for, and one button. */
export async function showLink(c: Context, { intents, assets, edge }: Counter): Promise<Response> {
  const asked = c.req.query("problem");
  const shown = {
    ...(await readLinkView(intents, c.req.param("id") ?? "", c.var.ctx.now())),
    problem: problemsShown.find((each) => each === asked) ?? null,
    typed: (c.req.query("amount") ?? "").slice(0, TYPED_LENGTH),
    token: edge.newId("req"),
    speech: speechOf(c.req.header("accept-language")),
    assets: await assets.addresses(),
  };
  return whole(c, <LinkPage {...shown} />);
}

/** `POST /checkout/{id}/pay`: makes the intent of a link's payer, and leads to its page. */
export function mountLink(app: OpenAPIHono, counter: Counter): void {
  app.post(
    "/checkout/:id/pay",
    page(counter, (c) => takeForm(c, counter)),
  );
  app.openAPIRegistry.registerPath({
    method: "post",
    path: "/checkout/{id}/pay",
    tags: ["hosted pages"],
    security: [],
    summary: "Begin to pay a link",
    request: {
      params: CheckoutPath,
      body: { required: true, content: { "application/x-www-form-urlencoded": { schema: PayForm } } },
    },
    responses: {
      303: { description: "To the page of the payment; or back, where it says what was wrong" },
      ...problems(
        "not_found",
        "origin_not_allowed",
        "unsupported_media_type",
        "body_too_large",
        "rate_limited",
      ),
    },
  });
}

async function takeForm(c: Context, counter: Counter): Promise<Response> {
  const { baseUrl, edge } = counter;
  await spend(c, "checkout", clientAddress(c, edge));
  refuseForeignForm(c, baseUrl);
  const id = c.req.param("id") ?? "";
  const fields = await readForm(c);
  const form = PayForm.safeParse(fields);
  const back = (problem: string) => {
    const typed = (fields.amount ?? "").slice(0, TYPED_LENGTH);
    return `${encodeURIComponent(id)}?${new URLSearchParams({ problem, ...(typed ? { amount: typed } : {}) })}`;
  };
  const leadsTo = form.success ? await attempt(c, counter, id, form.data, back) : back("amountWrong");
  return c.redirect(`/checkout/${leadsTo}`, 303);
}

/** Where the payer goes: the page of the payment, or back to the link's with a word that says what was wrong. */
async function attempt(
  c: Context,
  { intents, edge }: Counter,
  id: string,
  { token, amount, currency }: PayForm,
  back: (problem: string) => string,
): Promise<string> {
  const money = amount === undefined ? undefined : { amount: writtenAmount(amount), asset: currency };
  const read = PayMoney.safeParse(money);
  const ctx = { ...c.var.ctx, newId: edge.newId };
  if (!read.success) return back("amountWrong");
  try {
    return await payLink(intents, { ctx, id, address: clientAddress(c, edge), token, amount: read.data });
  } catch (error) {
    const problem = error instanceof Fault ? wordOf[error.code] : undefined;
    if (problem === undefined) throw error;
    return back(problem);
  }
}
