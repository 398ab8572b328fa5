/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { PaymentPosition, ReviewInput } from "../../clearing/schema.ts";
import type { Money } from "../../http/money.ts";
import type { Permission } from "../../http/permissions.ts";
import { type Refund, RefundReason } from "../../refund/schema.ts";
import { Choice, Field, Form } from "../view/form.tsx";
import { Card } from "../view/heading.tsx";
import { useViewer } from "../view/visit.ts";

interface ActionsProps {
  readonly payment: PaymentPosition;
  /** What can still be refunded; null where nothing was credited. */
  readonly left: Money | null;
  readonly excess: readonly Money[];
  readonly refunds: readonly Refund[];
}

/** The place of what waits for a decision. */
export const DECIDE = "decide";

/** What can be done about a payment as it stands. */
export function Actions(props: ActionsProps) {
  const folds = foldsOf(props);
  if (folds.length === 0) return null;
  return <Card title="What you can do">{folds}</Card>;
}

const ended = ["failed", "expired"];

/** An agent's payment of it waits for the operator's word. */
export function waitsForOperator({ paymentIntent, clearing }: PaymentPosition): boolean {
  const isByAgent = paymentIntent.executionPath === "x402" && clearing?.providerReference != null;
  return clearing?.state === "in-review" && isByAgent;
}

/** Money of it waits for the merchant's word. */
export function isUndecided(payment: PaymentPosition): boolean {
  if (payment.deposit?.reviewRequired) return true;
  return payment.clearing?.state === "in-review" && !waitsForOperator(payment);
}

function foldsOf({ payment, left, excess, refunds }: ActionsProps): Child[] {
  const { paymentIntent, clearing } = payment;
  const at = `/dashboard/payments/${paymentIntent.id}`;
  const isInReview = isUndecided(payment);
  const undirected = useUndirected(refunds);
  return [
    isInReview || excess.length > 0 ? (
      <ReviewFold at={at} decisions={decisionsOf(payment)} isOpen={isInReview} />
    ) : null,
    undirected ? <DirectFold at={at} refund={undirected} /> : null,
    ...refunds.filter(isOpen).map((refund) => <TakeBackFold at={at} refund={refund} />),
    left && !isNothing(left) ? <RefundFold at={at} payment={payment} left={left} /> : null,
    clearing && ended.includes(clearing.state) ? <RetryFold at={at} /> : null,
    paymentIntent.status === "created" || clearing?.state === "awaiting-funds" ? (
      <CancelFold at={at} />
    ) : null,
  ].filter((fold) => fold !== null);
}

interface FoldProps {
  readonly title: string;
  readonly id?: string;
  readonly action: string;
  readonly needs: Permission;
  readonly isOpen?: boolean;
  readonly children: Child;
}

/** An action behind its name: opened by a click, or because its form came back. A key that may not do it is told so. */
function Fold({ title, id, action, needs, isOpen, children }: FoldProps) {
  const { may, refused } = useViewer();
  return (
    <details
      class="fold"
      {...(id ? { id } : {})}
      {...(isOpen || refused?.path === action ? { open: true } : {})}
    >
      <summary>{title}</summary>
      {may(needs) ? (
        children
      ) : (
        <p class="muted">
          The key that you signed in with lacks the permission <code>{needs}</code>.
        </p>
      )}
    </details>
  );
}

interface RefundProps {
  readonly at: string;
  readonly payment: PaymentPosition;
  readonly left: Money;
}

const isNothing = ({ amount }: Money) => /^[0.]+$/.test(amount);

function RefundFold({ at, payment, left }: RefundProps) {
  const { amount, payment: way } = payment.paymentIntent;
  const units = [...new Set([amount.asset, way.asset].filter((each) => each !== null))];
  const action = `${at}/refunds`;
  return (
    <Fold title="Refund" action={action} needs="refunds:write">
      <Form action={action} submit="Refund" isGrave={true}>
        <div class="pair">
          <Field
            name="amount.amount"
            label="Amount"
            inputmode="decimal"
            hint={`Empty: all that can still be refunded, ${left.formatted}.`}
          />
          <Choice name="amount.asset" label="In" options={units.map((unit) => [unit, unit])} />
        </div>
        <Choice
          name="reason"
          label="Reason"
          options={RefundReason.options.map((each) => [each, each.replaceAll("-", " ")])}
        />
        <Field
          name="destination"
          label="To address"
          hint="Empty: back to who paid, where that can be told."
        />
      </Form>
    </Fold>
  );
}

interface OpenRefundProps {
  readonly at: string;
  readonly refund: Refund;
}

/** Its money has not been signed away, as far as is known here. */
const isOpen = ({ state }: Refund) => state === "requires-destination" || state === "pending";

/** The refund that is asked about, of those that wait for an address: the one whose form came back, else the newest. The
 *  others come after it: fields of two such forms would have one id. */
export function useUndirected(refunds: readonly Refund[]): Refund | undefined {
  const { refused } = useViewer();
  const waiting = refunds.filter(({ state }) => state === "requires-destination");
  return waiting.find(({ id }) => refused?.path.endsWith(`/${id}/destination`)) ?? waiting[0];
}

/** The place where it is said whom a refund pays. */
export const directPlace = ({ id }: Refund) => `to-${id}`;

function DirectFold({ at, refund }: OpenRefundProps) {
  const action = `${at}/refunds/${refund.id}/destination`;
  return (
    <Fold
      title={`Say whom the refund of ${refund.amount.formatted} pays`}
      id={directPlace(refund)}
      action={action}
      needs="refunds:write"
      isOpen={true}
    >
      <p class="muted">
        Who paid cannot be told. It leaves once the payment is final and an address is here.
      </p>
      <Form action={action} submit="Pay this address" isGrave={true}>
        <Field name="address" label={`Address on ${refund.chain}`} isRequired={true} />
      </Form>
    </Fold>
  );
}

function TakeBackFold({ at, refund }: OpenRefundProps) {
  const action = `${at}/refunds/${refund.id}/cancel`;
  return (
    <Fold title={`Take back the refund of ${refund.amount.formatted}`} action={action} needs="refunds:write">
      <p class="muted">Its money stays with you. What has been signed cannot be taken back any more.</p>
      <Form action={action} submit="Take it back" isGrave={true} />
    </Fold>
  );
}

const decisions = {
  accept: "Accept it as the payment",
  return: "Return it to the payer",
  extend: "Give the payer more time",
} as const satisfies Readonly<Record<ReviewInput["action"], string>>;

/** What came beside a payment that is settled, or over, or the operator's to decide about, can only go back; so can what was
 *  too much. */
function decisionsOf(payment: PaymentPosition): readonly (readonly [string, string])[] {
  const all = Object.entries(decisions);
  const isWhole = payment.clearing?.state === "in-review" && !waitsForOperator(payment);
  return isWhole ? all : all.filter(([action]) => action === "return");
}

interface ReviewProps {
  readonly at: string;
  readonly decisions: readonly (readonly [string, string])[];
  readonly isOpen: boolean;
}

function ReviewFold({ at, decisions, isOpen }: ReviewProps) {
  const action = `${at}/review`;
  return (
    <Fold title="Decide about it" id={DECIDE} action={action} needs="payments:write" isOpen={isOpen}>
      <Form action={action} submit="Decide">
        <Choice name="action" label="What becomes of the money" options={decisions} />
        <Field
          name="destination"
          label="Return to address"
          hint="Only for a return. Empty: to the payer, where that can be told."
        />
        <Field name="note" label="Note" maxLength={500} />
      </Form>
    </Fold>
  );
}

function RetryFold({ at }: { readonly at: string }) {
  const action = `${at}/retry`;
  return (
    <Fold title="Retry" action={action} needs="payments:write">
      <p class="muted">Settles the payment with the funds that have arrived for it.</p>
      <Form action={action} submit="Retry" />
    </Fold>
  );
}

function CancelFold({ at }: { readonly at: string }) {
  const action = `${at}/cancel`;
  return (
    <Fold title="Cancel" action={action} needs="payments:write">
      <p class="muted">Nobody can pay it afterwards. Money that is on its way already is never lost.</p>
      <Form action={action} submit="Cancel the payment" isGrave={true} />
    </Fold>
  );
}
