/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Invoice } from "../../invoice/schema.ts";
import { isPayable } from "../../invoice/state.ts";
import { Form } from "../view/form.tsx";
import { Card } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";

interface ActionsProps {
  readonly invoice: Invoice;
  readonly at: string;
}

/** What can be done about an invoice as it stands. */
export function Actions({ invoice, at }: ActionsProps) {
  const isOwed = isPayable(invoice.state);
  if (invoice.state !== "draft" && !isOwed && !invoice.listed) return null;
  return (
    <Card title="What you can do">
      <Needs permission="invoices:manage">
        <div class="actions">
          {invoice.state === "draft" ? <OfDraft invoice={invoice} at={at} /> : null}
          {isOwed ? <OfOwed invoice={invoice} at={at} /> : null}
          {invoice.state === "draft" ? null : <Listed invoice={invoice} at={at} />}
        </div>
        {isOwed && invoice.buyer.email === null ? (
          <p class="hint">It can be mailed once its buyer has an email: edit it.</p>
        ) : null}
      </Needs>
    </Card>
  );
}

function OfDraft({ invoice, at }: ActionsProps) {
  return (
    <>
      <Form action={`${at}/issue`} submit={invoice.sendEmail ? "Issue and mail it" : "Issue"} />
      <a class="button grave" href={`${at}/delete`}>
        Delete
      </a>
    </>
  );
}

function OfOwed({ invoice, at }: ActionsProps) {
  return (
    <>
      {invoice.buyer.email === null ? null : (
        <Form action={`${at}/send`} submit={invoice.sendEmail ? "Mail it again" : "Mail it"} isPlain={true} />
      )}
      {invoice.state === "open" ? (
        <a class="button" href={`${at}/uncollectible`}>
          Uncollectible
        </a>
      ) : null}
      <a class="button grave" href={`${at}/void`}>
        Void
      </a>
    </>
  );
}

function Listed({ invoice, at }: ActionsProps) {
  return invoice.listed ? (
    <Form action={`${at}/unlist`} submit="Take out of the index" isPlain={true} />
  ) : (
    <Form action={`${at}/list`} submit="List in the index" isPlain={true} />
  );
}
