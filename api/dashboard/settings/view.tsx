/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { RailFacts } from "#facilitator";
import { finalActions, type Merchant } from "../../merchant/schema.ts";
import { Checks, Lines, Tick } from "../view/fields.tsx";
import { Choice, Field, Form, TextField } from "../view/form.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Code, Facts, Time } from "../view/shown.tsx";
import { BrandCard } from "./brand.tsx";

const finalWords: Readonly<Record<(typeof finalActions)[number], string>> = {
  none: "goes on",
  pause: "is paused",
  cancel: "is cancelled",
};

interface SettingsProps {
  readonly of: Merchant;
  /** Of the deployment. */
  readonly rails: readonly RailFacts[];
  readonly done: string | undefined;
}

export function SettingsPage({ of, rails, done }: SettingsProps) {
  return (
    <>
      <Heading title="Settings" about="Who you are to payers, and how your money is counted." />
      <Notice code={done} words={{ saved: "Saved." }} />
      <div class="columns">
        <div>
          <section class="card" aria-label="Settings">
            <Form action="/dashboard/settings" submit="Save">
              <Identity of={of} />
              <Payments of={of} rails={rails} />
            </Form>
          </section>
        </div>
        <div>
          <Card title="Account">
            <Facts
              of={[
                ["Id", <Code>{of.id}</Code>],
                ["Our fee", `${of.feeBps / 100} %`],
                ["Since", <Time at={of.createdAt} />],
                ["Changed", <Time at={of.updatedAt} />],
              ]}
            />
          </Card>
          <BrandCard of={of} />
        </div>
      </div>
    </>
  );
}

function Identity({ of }: { readonly of: Merchant }) {
  return (
    <>
      <h2>Merchant</h2>
      <Field name="name" label="Name" isRequired maxLength={140} value={of.name} />
      <div class="pair">
        <Field name="city" label="City" isRequired maxLength={140} value={of.city} />
        <Field
          name="countryCode"
          label="Country"
          isRequired
          hint="Two letters, such as PT"
          value={of.countryCode}
        />
      </div>
      <TextField
        name="address"
        label="Address"
        hint="Postal, as invoices print it; may be left empty."
        maxLength={500}
        value={of.address ?? ""}
      />
      <Field
        name="taxId"
        label="Tax id"
        hint="Printed on invoices that are issued from now on; may be left empty."
        maxLength={64}
        value={of.taxId ?? ""}
      />
      <Field
        name="timeZone"
        label="Time zone"
        isRequired
        hint="Such as Europe/Lisbon: receipts tell times in it, beside UTC."
        value={of.timeZone}
      />
      <Field
        name="categoryCode"
        label="Merchant category code"
        inputmode="numeric"
        hint="Four digits of ISO 18245; may be left empty."
        value={of.categoryCode ?? ""}
      />
      <Field
        name="contactEmail"
        label="Contact"
        type="email"
        hint="Where notices about the account go, and where payers write to: pages of payments that ended unpaid name it."
        value={of.contactEmail ?? ""}
      />
      <Lines
        name="allowedOrigins"
        label="Origins"
        hint="Of your pages that may use publishable keys, one on each line."
        value={of.allowedOrigins.join("\n")}
      />
    </>
  );
}

function TakenRails({ of, rails }: Pick<SettingsProps, "of" | "rails">) {
  // One that is taken and does not work now must be shown: left out, it would be given up by the next save.
  const values = [...rails, ...of.rails].map(({ chain, asset }) => `${chain}/${asset}`);
  return (
    <Checks
      name="rails"
      label="Rails you are paid on"
      hint="Every one, also those that come later, when none is ticked. Links, invoices and resources follow at once; payments under way go on as they are."
      options={[...new Set(values)].map((value) => ({
        value,
        label: value.split("/").reverse().join(" on "),
      }))}
      chosen={of.rails.map(({ chain, asset }) => `${chain}/${asset}`)}
    />
  );
}

function Payments({ of, rails }: Pick<SettingsProps, "of" | "rails">) {
  return (
    <>
      <h2>Payments</h2>
      <TakenRails of={of} rails={rails} />
      <Field
        name="underpaymentToleranceBps"
        label="Underpayment that still counts as paid"
        inputmode="numeric"
        hint="Basis points of the amount due, 0 to 500: 100 is one percent."
        isRequired
        value={String(of.underpaymentToleranceBps)}
      />
      <Field
        name="spreadBps"
        label="Margin on exchange rates"
        inputmode="numeric"
        hint="Basis points, 0 to 300, on top of the market's rate; none between a currency and its coin. Payers are told of it where they choose how to pay."
        isRequired
        value={String(of.spreadBps)}
      />
      <Tick
        name="refundFees"
        label="Refunds give our fee back"
        hint="The part of it that belongs to what is refunded."
        isOn={of.refundFees}
      />
      <Field
        name="invoicePrefix"
        label="Invoice numbers begin with"
        isRequired
        hint="Up to 12 of A-Z 0-9, with - in between."
        value={of.invoicePrefix}
      />
      <Choice
        name="finalAction"
        label="A subscription whose invoice is 30 days overdue"
        value={of.finalAction}
        options={finalActions.map((action) => [action, finalWords[action]])}
      />
    </>
  );
}
