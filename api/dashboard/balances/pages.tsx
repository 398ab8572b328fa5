/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { RailFacts } from "#facilitator";
import type { Payout, PayoutAddress } from "../../payout/schema.ts";
import { ConfirmPage } from "../view/confirm.tsx";
import { Choice, Field, Form } from "../view/form.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Code, Facts, Time, Transaction } from "../view/shown.tsx";
import { PayoutBadge } from "./overview.tsx";

const PATH = "/dashboard/balances";
const above = [PATH, "Balances and payouts"] as const;

interface NewPayoutProps {
  readonly rails: readonly RailFacts[];
  readonly addresses: readonly PayoutAddress[];
}

export function NewPayoutPage({ rails, addresses }: NewPayoutProps) {
  const unique = (values: readonly string[]) => [...new Set(values)].map((each) => [each, each] as const);
  return (
    <>
      <Heading title="Pay out" about="The money is reserved at once and leaves on the chain." above={above} />
      <div class="card narrow">
        <Form action={`${PATH}/payouts`} submit="Pay out">
          <div class="pair">
            <Field name="amount.amount" label="Amount" inputmode="decimal" isRequired hint="Such as 25.00" />
            <Choice name="amount.asset" label="In" options={unique(rails.map(({ asset }) => asset))} />
          </div>
          <Choice name="chain" label="On" options={unique(rails.map(({ chain }) => chain))} />
          <Choice
            name="destination"
            label="To"
            hint="An address of your book, on the same chain."
            options={addresses.map(({ address, chain, label }) => [
              address,
              `${label ? `${label}: ` : ""}${address} on ${chain}`,
            ])}
          />
        </Form>
      </div>
    </>
  );
}

export function PayoutPage({ of, done }: { readonly of: Payout; readonly done: string | undefined }) {
  return (
    <>
      <Heading
        title={
          <>
            <Amount of={of.amount} /> <PayoutBadge state={of.state} />
          </>
        }
        about="A payout"
        above={above}
      >
        {of.state === "pending" ? (
          <a class="button grave" href={`${PATH}/payouts/${of.id}/cancel`}>
            Cancel
          </a>
        ) : null}
      </Heading>
      <Notice
        code={done}
        words={{ created: "On its way. It succeeds once its block is final.", cancelled: "Taken back." }}
      />
      <Card title="Payout">
        <Facts
          of={[
            ["Id", <Code>{of.id}</Code>],
            ["Amount", `${of.amount.amount} ${of.amount.asset}`],
            ["Chain", of.chain],
            ["To", <Code>{of.destination}</Code>],
            ["Transaction", of.transactionHash && <Transaction hash={of.transactionHash} chain={of.chain} />],
            ["Failed because", of.failureReason],
            ["Created", <Time at={of.createdAt} />],
            ["Books", <a href={`/dashboard/ledger?subject=${of.id}`}>Ledger entries</a>],
          ]}
        />
      </Card>
    </>
  );
}

export function CancelPayoutPage({ of }: { readonly of: Payout }) {
  const path = `${PATH}/payouts/${of.id}`;
  return (
    <ConfirmPage
      title="Cancel this payout?"
      above={[path, "The payout"]}
      action={`${path}/cancel`}
      submit="Cancel the payout"
    >
      <p class="lead">
        <Amount of={of.amount} /> go back to what is available, if it has not been signed meanwhile.
      </p>
    </ConfirmPage>
  );
}

export function NewAddressPage({ chains }: { readonly chains: readonly string[] }) {
  return (
    <>
      <Heading title="Add a payout address" about="You are told of it by mail." above={above} />
      <div class="card narrow">
        <Form action={`${PATH}/addresses`} submit="Add the address">
          <Choice name="chain" label="Chain" options={chains.map((chain) => [chain, chain])} />
          <Field
            name="address"
            label="Address"
            isRequired
            hint="0x and 40 digits. Look at it twice: what is sent there does not come back."
          />
          <Field name="label" label="Label" maxLength={140} hint="For you: whose it is." />
        </Form>
      </div>
    </>
  );
}

export function RemoveAddressPage({ of }: { readonly of: PayoutAddress }) {
  return (
    <ConfirmPage
      title="Remove this address?"
      above={above}
      action={`${PATH}/addresses/${of.id}/remove`}
      submit="Remove it"
    >
      <p class="lead">
        Nothing can be paid to <Code>{of.address}</Code> {of.label ? `(${of.label}) ` : ""}any more. Added
        anew, it waits anew.
      </p>
    </ConfirmPage>
  );
}
