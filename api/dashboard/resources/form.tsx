/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { PayableRail } from "#facilitator";
import { priceDecimals } from "#kernel/asset";
import type { Resource } from "../../resource/schema.ts";
import { Carried, Checks, Lines, Tick } from "../view/fields.tsx";
import { Choice, Field, Form } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Code, Empty } from "../view/shown.tsx";
import { useViewer } from "../view/visit.ts";

interface ResourceFormProps {
  readonly action: string;
  /** Those that the merchant takes and that work. */
  readonly rails: readonly PayableRail[];
  /** Those that it was registered for; none where it is on every one. */
  readonly named: readonly PayableRail[];
  /** What is registered anew; null for a new one. */
  readonly of: Resource | null;
}

export function NewResourcePage({ action, rails }: Omit<ResourceFormProps, "of" | "named">) {
  return (
    <>
      <Heading
        title="Register an endpoint"
        about="Its price, and where its payments come in. It is on sale from then on."
        above={["/dashboard/resources", "x402 resources"]}
      />
      <div class="card narrow">
        <ResourceForm action={action} rails={rails} named={[]} of={null} />
      </div>
    </>
  );
}

export function EditResourcePage({
  action,
  rails,
  named,
  of,
}: ResourceFormProps & { readonly of: Resource }) {
  return (
    <>
      <Heading
        title="Change what is sold"
        about="The endpoint is registered anew: agents are quoted these terms from then on."
        above={[`/dashboard/resources/${of.id}`, "The resource"]}
      />
      <div class="card narrow">
        <ResourceForm action={action} rails={rails} named={named} of={of} />
      </div>
    </>
  );
}

function ResourceForm({ action, rails, named, of }: ResourceFormProps) {
  const { may } = useViewer();
  if (!may("x402:manage")) return <Empty title="This key may look at resources, not change them" />;
  return (
    <Form action={action} submit={of ? "Register anew" : "Register"}>
      {of ? <KnownUrl url={of.url} /> : <NewUrl />}
      <div class="pair">
        <Field
          name="price.amount"
          label="Price"
          inputmode="decimal"
          hint="For one request, such as 0.01"
          isRequired
          value={of?.price.amount}
        />
        <Choice
          name="price.asset"
          label="In"
          value={of?.price.asset ?? "USD"}
          options={Object.keys(priceDecimals).map((code) => [code, code])}
        />
      </div>
      <Field name="description" label="Description" maxLength={500} value={of?.description} />
      <Checks
        name="rails"
        label="Rails"
        hint="Of those that you take in your settings: every one at parity with the price when none is chosen."
        options={railOptions(rails, named)}
        chosen={named.map(wordOf)}
      />
      <Tick name="listed" label="Show it in the discovery index" isOn={of?.listed ?? true} />
      <Tick
        name="probe"
        label="Ask the endpoint now"
        hint="Tells what agents would meet there. It is registered whatever the answer is."
        isOn={false}
      />
      <details class="fold">
        <summary>More about the endpoint</summary>
        <More of={of} />
      </details>
    </Form>
  );
}

function NewUrl() {
  return (
    <Field
      name="url"
      label="URL"
      type="url"
      isRequired
      maxLength={2_048}
      hint="What agents request, such as https://api.example.com/weather. It identifies the resource."
    />
  );
}

function KnownUrl({ url }: { readonly url: string }) {
  return (
    <p class="field">
      <Carried name="url" value={url} />
      <Code>{url}</Code>
    </p>
  );
}

function More({ of }: { readonly of: Resource | null }) {
  const bazaar = of?.extensions.bazaar;
  return (
    <>
      <Field name="serviceName" label="Service name" maxLength={200} value={of?.serviceName ?? ""} />
      <Lines name="tags" label="Tags" hint="One on each line." value={of?.tags.join("\n")} />
      <Field name="iconUrl" label="Icon URL" type="url" value={of?.iconUrl ?? ""} />
      <Field name="mimeType" label="Media type" value={of?.mimeType ?? "application/json"} />
      <Field
        name="maxTimeoutSeconds"
        label="Longest wait"
        inputmode="numeric"
        hint="Seconds from 30 to 600 that a payment may take."
        value={String(of?.maxTimeoutSeconds ?? 300)}
      />
      <Choice
        name="paymentFlow"
        label="Settled"
        value={of?.paymentFlow ?? "authorization"}
        options={[
          ["authorization", "after the work: authorization"],
          ["upfront", "before the work: upfront"],
        ]}
      />
      <Lines
        name="extensions.bazaar"
        label="Bazaar declaration"
        hint="JSON: input and output of the endpoint, as discovery readers show it."
        rows={5}
        value={bazaar === undefined ? "" : JSON.stringify(bazaar, null, 2)}
      />
    </>
  );
}

/** What is named stays ticked, though it is not offered now: left out, saving would widen none to every one. */
function railOptions(rails: readonly PayableRail[], named: readonly PayableRail[]) {
  const offered = new Set(rails.map(wordOf));
  const gone = named.filter((rail) => !offered.has(wordOf(rail)));
  return [
    ...rails.map((rail) => ({ value: wordOf(rail), label: labelOf(rail) })),
    ...gone.map((rail) => ({ value: wordOf(rail), label: `${labelOf(rail)} (not offered now)` })),
  ];
}

function wordOf({ chain, asset }: PayableRail): string {
  return `${chain}/${asset}`;
}

function labelOf({ chain, asset }: PayableRail): string {
  return `${asset} on ${chain}`;
}
