/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Invoice } from "../../invoice/schema.ts";
import { isPayable } from "../../invoice/state.ts";
import { lineTotal } from "../../invoice/verbs/line.ts";
import type { Brand } from "../../merchant/verbs/brand.ts";
import { amountOf } from "../present.ts";
import type { OpenInvoice } from "../verbs/invoice.ts";
import type { Speech } from "../words/index.ts";
import { type Dressed, Page } from "./layout.tsx";
import { wordsOfRefund } from "./outcome.tsx";
import { roomFor } from "./room.ts";
import { Seller } from "./seller.tsx";

interface InvoiceProps extends Dressed {
  readonly invoice: OpenInvoice;
  readonly brand: Brand;
  readonly problem: Parameters<Speech["say"]>[0] | null;
}

/** The page of an invoice: what it is for, what is owed, and one button. */
export function InvoicePage({ invoice, speech, assets, brand, problem }: InvoiceProps) {
  const { say } = speech;
  const title = say("invoice", { number: invoice.number ?? "" });
  return (
    <Page title={`${title} · ${invoice.merchant.name}`} speech={speech} assets={assets} brand={brand}>
      <main class="ticket">
        <Stub invoice={invoice} speech={speech} brand={brand} title={title} />
        <div class="body stack">
          {problem && isAsking(invoice) ? (
            <p class="problem" role="alert">
              {say(problem)}
            </p>
          ) : null}
          <Lines invoice={invoice} speech={speech} />
          <Sums invoice={invoice} speech={speech} />
          <Action invoice={invoice} brand={brand} speech={speech} />
          <p>
            <a href={`/invoices/${invoice.id}/invoice.pdf`}>{say("invoiceFile")}</a>
          </p>
          {invoice.notes ? (
            <section>
              <h2>{say("notes")}</h2>
              <p class="notes">{invoice.notes}</p>
            </section>
          ) : null}
        </div>
      </main>
    </Page>
  );
}

/** The address keeps a problem that was told once, and is loaded again: where nothing can be paid it says nothing true. */
function isAsking({ state, underWay }: OpenInvoice): boolean {
  return isPayable(state) && !underWay;
}

type PartProps = Pick<InvoiceProps, "invoice" | "speech">;
type StubProps = PartProps & Pick<InvoiceProps, "brand"> & { readonly title: string };

function Stub({ invoice, speech, brand, title }: StubProps) {
  const { say } = speech;
  const { merchant, state, outstanding, total, buyerName, dueAt, issuedAt } = invoice;
  const isOwed = isPayable(state);
  const { display } = isOwed ? outstanding : total;
  return (
    <header class="stub">
      <Seller merchant={merchant} brand={brand} />
      {merchant.address ? <p class="place">{merchant.address}</p> : null}
      {merchant.taxId ? <p class="place">{say("taxId", { taxId: merchant.taxId })}</p> : null}
      <h1 class="label">{title}</h1>
      <p class="amount" data-room={roomFor(display)}>
        {display}
      </p>
      <ul class="dates">
        {isOwed && dueAt ? <li>{say("dueOn", { date: dateOf(dueAt, speech) })}</li> : null}
        {issuedAt ? <li>{say("issuedOn", { date: dateOf(issuedAt, speech) })}</li> : null}
        {buyerName ? <li>{say("invoiceFor", { buyer: buyerName })}</li> : null}
      </ul>
    </header>
  );
}

function Lines({ invoice, speech }: PartProps) {
  const { say } = speech;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{say("item")}</th>
          <th scope="col">{say("quantity")}</th>
          <th scope="col">{say("unitPrice")}</th>
          <th scope="col">{say("lineTotal")}</th>
        </tr>
      </thead>
      <tbody>
        {invoice.lines.map((line) => (
          <tr>
            <td>{line.name}</td>
            <td>{line.quantity}</td>
            <td>{line.unitPrice.display}</td>
            <td>{lineTotal(line).display}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sums({ invoice, speech }: PartProps) {
  return (
    <dl class="sums">
      {sumsOf(invoice).map(([word, { display }]) => (
        <>
          <dt>{speech.say(word)}</dt>
          <dd>{display}</dd>
        </>
      ))}
    </dl>
  );
}

type Sum = readonly [word: Parameters<Speech["say"]>[0], money: Invoice["total"]];

function sumsOf({ total, paid, outstanding, state, refunds }: OpenInvoice): readonly Sum[] {
  const isPartly = isPayable(state) && amountOf(paid) > 0n;
  const took: readonly Sum[] = isPartly || refunds ? [["paidSoFar", refunds?.collected ?? paid]] : [];
  const rest: readonly Sum[] = took.length > 0 && isPayable(state) ? [["outstanding", outstanding]] : [];
  return [["total", total], ...took, ...sumsOfRefunds(refunds), ...rest];
}

function sumsOfRefunds(refunds: OpenInvoice["refunds"]): readonly Sum[] {
  const arrived: readonly Sum[] = refunds?.arrived ? [["refunded", refunds.arrived]] : [];
  return refunds?.underWay ? [...arrived, ["refundUnderWay", refunds.underWay]] : arrived;
}

function Action({ invoice, brand, speech }: PartProps & Pick<InvoiceProps, "brand">) {
  const { say } = speech;
  if (invoice.state === "paid") return <Paid invoice={invoice} speech={speech} />;
  if (invoice.state === "void") return <p class="stamp">{say("invoiceVoid")}</p>;
  if (brand.isSuspended && !invoice.underWay) return <p class="warning">{say("merchant_suspended")}</p>;
  return (
    <>
      {invoice.state === "uncollectible" ? <p class="stamp">{say("invoiceUncollectible")}</p> : null}
      {invoice.underWay ? (
        <Wait underWay={invoice.underWay} speech={speech} />
      ) : (
        <form method="post" action={`/invoices/${invoice.id}/pay`}>
          <button type="submit" class="primary">
            {say("payNow", { amount: invoice.outstanding.display })}
          </button>
        </form>
      )}
    </>
  );
}

function Paid({ invoice: { refunds, merchant }, speech }: PartProps) {
  const { say } = speech;
  if (!refunds?.part) return <p class="stamp good">{say("invoicePaid")}</p>;
  const [title, hint, mood] = wordsOfRefund[refunds.part];
  return (
    <>
      <p class={`stamp ${mood}`}>{say(title)}</p>
      <p>{say(hint, { merchant: merchant.name, amount: refunds.arrived?.display ?? "" })}</p>
    </>
  );
}

/** Instead of the button: what is still missing goes to the payment that was begun. */
function Wait({
  underWay,
  speech,
}: Pick<PartProps, "speech"> & { readonly underWay: NonNullable<OpenInvoice["underWay"]> }) {
  const { say } = speech;
  return (
    <>
      <p class="stamp">{say("invoiceUnderWay")}</p>
      {underWay.intentId ? (
        <a class="primary" href={`/checkout/${underWay.intentId}`}>
          {say("seePayment")}
        </a>
      ) : null}
    </>
  );
}

function dateOf(instant: string, { lang }: Speech): string {
  return new Intl.DateTimeFormat(lang, { dateStyle: "long", timeZone: "UTC" }).format(new Date(instant));
}
