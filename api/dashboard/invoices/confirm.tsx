/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Invoice } from "../../invoice/schema.ts";
import { Form } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";
import { Amount, Facts } from "../view/shown.tsx";
import { InvoiceBadge } from "./list.tsx";

const PATH = "/dashboard/invoices";

/** What cannot be taken back is asked for once more. */
export const asks = {
  void: {
    title: "Void this invoice?",
    about: "Nobody can pay it afterwards. It keeps its number, and stands void for good.",
    submit: "Void the invoice",
  },
  uncollectible: {
    title: "Give up on this invoice?",
    about: "Its buyer is reminded no more. It can still be paid, but it is not open again.",
    submit: "Mark it uncollectible",
  },
  delete: {
    title: "Delete this draft?",
    about: "It was never issued, so nothing of it is kept.",
    submit: "Delete the draft",
  },
} as const;
export type Grave = keyof typeof asks;

export function ConfirmPage({ invoice, grave }: { readonly invoice: Invoice; readonly grave: Grave }) {
  const at = `${PATH}/${invoice.id}`;
  const { title, about, submit } = asks[grave];
  return (
    <>
      <Heading title={title} above={[at, invoice.number ?? "Draft"]} about={about} />
      <div class="card narrow confirm">
        <Facts
          of={[
            ["Invoice", invoice.number ?? "Draft"],
            ["Status", <InvoiceBadge of={invoice} />],
            ["Buyer", invoice.buyer.name],
            ["Total", <Amount of={invoice.total} />],
            ["Paid", <Amount of={invoice.paid} />],
          ]}
        />
        <Needs permission="invoices:manage">
          <Form action={`${at}/${grave}`} submit={submit} isGrave={true} />
        </Needs>
        <p>
          <a href={at}>Leave it as it is</a>
        </p>
      </div>
    </>
  );
}
