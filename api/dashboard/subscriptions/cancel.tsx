/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Subscription } from "../../subscription/schema.ts";
import { Check, Choice, Form } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";

/** What cannot be taken back is asked for once more. */
export function CancelPage({ subscription }: { readonly subscription: Subscription }) {
  const at = `/dashboard/subscriptions/${subscription.id}`;
  return (
    <>
      <Heading
        title="Cancel this subscription?"
        above={[at, subscription.description]}
        about="It is never billed again, and cannot be taken up again. Nothing that was paid is given back."
      />
      <div class="card narrow confirm">
        <Needs permission="catalog:manage">
          <Form action={`${at}/cancel`} submit="Cancel the subscription" isGrave={true}>
            <Choice
              name="at"
              label="When"
              options={[
                ["period-end", "At the end of the period that runs now"],
                ["now", "Now"],
              ]}
            />
            <Check name="voidOpenInvoices" label="Void its invoices that are not paid" />
          </Form>
        </Needs>
        <p>
          <a href={at}>Leave it as it is</a>
        </p>
      </div>
    </>
  );
}
