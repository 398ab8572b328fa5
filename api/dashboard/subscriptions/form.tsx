/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Customer } from "../../customer/schema.ts";
import { type Subscription, SubscriptionInput } from "../../subscription/schema.ts";
import { CurrencyChoice } from "../view/currency.tsx";
import { Check, Choice, Field, Form } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";

const PATH = "/dashboard/subscriptions";

export function NewSubscriptionPage({ customer }: { readonly customer: Customer | null }) {
  return (
    <>
      <Heading
        title="New subscription"
        above={[PATH, "Subscriptions"]}
        about="Its first invoice is issued at once, or on the day that it starts."
      />
      <div class="card narrow">
        <Needs permission="catalog:manage">
          <Form action={PATH} submit="Start the subscription">
            <div class="pair">
              <Field
                name="customer.name"
                label="Customer"
                value={customer?.name}
                isRequired={true}
                maxLength={140}
              />
              <Field
                name="customer.email"
                label="Email"
                type="email"
                value={customer?.email}
                isRequired={true}
                maxLength={254}
              />
            </div>
            <Terms />
            <div class="pair">
              <Choice name="interval" label="Billed each" options={units} value="month" />
              <Field
                name="intervalCount"
                label="Every how many"
                inputmode="numeric"
                value="1"
                hint="3 with month: quarterly."
              />
            </div>
            <div class="pair">
              <Field name="anchorAt" label="Starts (UTC)" type="datetime-local" hint="Empty: now." />
              <Field
                name="maxCycles"
                label="Cycles at most"
                inputmode="numeric"
                hint="Empty: until it is cancelled."
              />
            </div>
            <Check name="sendEmail" label="Mail each invoice, with reminders until it is paid" isOn={true} />
          </Form>
        </Needs>
      </div>
    </>
  );
}

const units = SubscriptionInput.shape.interval.options.map((interval) => [interval, interval] as const);

/** What the next cycle asks for; what was issued stays as it is. */
export function EditSubscriptionPage({ subscription }: { readonly subscription: Subscription }) {
  const at = `${PATH}/${subscription.id}`;
  return (
    <>
      <Heading
        title="Edit the subscription"
        above={[at, subscription.description]}
        about="It counts from the next cycle on. Nothing is prorated."
      />
      <div class="card narrow">
        <Needs permission="catalog:manage">
          <Form action={`${at}/edit`} submit="Save the subscription">
            <input type="hidden" name="version" value={subscription.version} />
            <Terms subscription={subscription} />
          </Form>
        </Needs>
      </div>
    </>
  );
}

function Terms({ subscription }: { readonly subscription?: Subscription }) {
  return (
    <>
      <Field
        name="description"
        label="What for"
        value={subscription?.description}
        hint="Stands on each invoice, with the period."
        isRequired={true}
        maxLength={500}
      />
      <div class="pair">
        <Field
          name="amount.amount"
          label="Amount of each cycle"
          inputmode="decimal"
          value={subscription?.amount.amount}
          isRequired={true}
        />
        <CurrencyChoice name="amount.asset" label="Currency" value={subscription?.amount.asset} />
      </div>
      <Field
        name="daysUntilDue"
        label="Days to pay"
        inputmode="numeric"
        value={subscription?.daysUntilDue.toString() ?? "7"}
      />
    </>
  );
}
