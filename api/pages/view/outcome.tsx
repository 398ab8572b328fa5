/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { excessOf, isGasless, isPayableAgain, isReturning, isUnpaid, refundedOf } from "../present.ts";
import type { Phase } from "../schema.ts";
import type { CheckoutProps } from "./props.ts";
import { Returns } from "./returns.tsx";
import { Transaction } from "./transaction.tsx";
import { Wallet } from "./wallet.tsx";

type Over = Exclude<Phase, "choose" | "waiting" | "underpaid">;
const words = {
  detected: ["detected", "detectedHint", "going"],
  settling: ["settling", "settlingHint", "going"],
  paid: ["paid", "paidHint", "good"],
  "in-review": ["inReview", "inReviewHint", "unsure"],
  expired: ["expired", "expiredHint", "over"],
  failed: ["failed", "failedHint", "bad"],
  cancelled: ["cancelled", "cancelledHint", "over"],
  returned: ["returned", "returnedHint", "over"],
} as const satisfies Record<Over, readonly [string, string, string]>;

/** Of a payment that is paid, but of which money went back. */
export const wordsOfRefund = {
  all: ["refunded", "refundedHint", "over"],
  part: ["partlyRefunded", "partlyRefundedHint", "good"],
} as const;

/** The merchant has no say in it. */
const wordsOfOperator = ["inReview", "inReviewByOperatorHint", "unsure"] as const;

/** Nothing of it came, nor will. */
const wordsOfUnpaid = ["failed", "failedUnpaidHint", "bad"] as const;

const wordsOfAgain = ["failed", "failedAgainHint", "bad"] as const;

const wordsOfReturning = ["returning", "returningHint", "going"] as const;

/** What it came to, in a few words. */
export function outcomeOf(props: CheckoutProps): string {
  return props.speech.say(wordsOf(props)[0]);
}

const refundOf = ({ status, refunds }: CheckoutProps) =>
  status.phase === "paid" ? refundedOf(status, refunds) : null;

function wordsOf(props: CheckoutProps) {
  const { status, payment, rail } = props;
  const { phase, executionPath } = status;
  const refunded = refundOf(props);
  if (refunded) return wordsOfRefund[refunded.isAll ? "all" : "part"];
  if (phase === "failed" && isUnpaid(payment, status))
    return rail && isPayableAgain(payment, status) ? wordsOfAgain : wordsOfUnpaid;
  if (phase === "returned" && isReturning(status)) return wordsOfReturning;
  return phase === "in-review" && executionPath === "x402" ? wordsOfOperator : words[phase as Over];
}

/** Where a payment stands once the payer has done what there was to do. */
export function Outcome(props: CheckoutProps) {
  const { status, payment, explorer, refunds, contact, speech } = props;
  const { say } = speech;
  const refunded = refundOf(props);
  const tooMuch = status.phase === "paid" ? excessOf(status) : null;
  const [title, hint, mood] = wordsOf(props);
  const merchant = status.merchant.name;
  const { confirmations, required, phase } = status;
  const { returnUrl } = payment.position.paymentIntent;
  return (
    <section class={`outcome ${mood}`} aria-labelledby="state">
      <Mark mood={mood} />
      <h2 id="state">{say(title)}</h2>
      <p>
        {say(hint, {
          merchant,
          n: confirmations ?? 0,
          required: required ?? 1,
          amount: refunded?.amount.display ?? "",
        })}
      </p>
      <Again {...props} />
      {contact ? <Contact email={contact} id={status.id} merchant={merchant} speech={speech} /> : null}
      {tooMuch ? <p>{say("tooMuch", { merchant, amount: tooMuch.display })}</p> : null}
      {phase === "detected" ? (
        <progress max={required ?? 1} value={confirmations ?? 0} aria-labelledby="state" />
      ) : null}
      {status.transactionHash === null ? null : (
        <Transaction
          hash={status.transactionHash}
          label={say("transaction")}
          url={explorer ? `${explorer}/tx/${status.transactionHash}` : null}
        />
      )}
      <Returns status={status} speech={speech} />
      {phase === "paid" ? (
        <p>
          <a href={`/checkout/${status.id}/receipt.pdf`}>{say("receiptFile")}</a>
        </p>
      ) : null}
      {refunds.length > 0 ? (
        <p>
          <a class={refunds.some(isWaiting) ? "primary" : ""} href={`/checkout/${status.id}/refund`}>
            {say(refunds.some(isWaiting) ? "refundClaim" : "refundTitle", { merchant })}
          </a>
        </p>
      ) : null}
      <Onward payment={payment} status={status} speech={speech} />
      {returnUrl ? (
        <p class="return">
          <a
            class="secondary"
            href={backTo(returnUrl, status.id)}
            data-return={phase === "paid" ? "" : undefined}
          >
            {say("back", { merchant })}
          </a>
          {phase === "paid" ? (
            <span class="hint" data-soon hidden>
              {say("backSoon")}
            </span>
          ) : null}
        </p>
      ) : null}
    </section>
  );
}

const isWaiting = ({ state }: CheckoutProps["refunds"][number]) => state === "requires-destination";

const marks: Readonly<Record<string, string>> = {
  good: "M5 12.5l4.5 4.5L19 7.5",
  bad: "M7 7l10 10M17 7L7 17",
  over: "M6 12h12",
  unsure: "M12 6.5v7M12 17v.5",
};

interface ContactProps extends Pick<CheckoutProps, "speech"> {
  readonly email: string;
  /** What it is about, for whoever reads the mail. */
  readonly id: string;
  readonly merchant: string;
}

function Contact({ email, id, merchant, speech }: ContactProps) {
  const at = email.split("@").map(encodeURIComponent).join("@");
  return (
    <p>
      {speech.say("contact", { merchant })} <a href={`mailto:${at}?subject=${id}`}>{email}</a>
    </p>
  );
}

/** The same wallet, and a new signature. */
function Again(props: CheckoutProps) {
  const { rail, payment, status, speech } = props;
  if (!rail || !isPayableAgain(payment, status)) return null;
  return (
    <div class="again">
      <Wallet {...props} rail={rail} isGasless={isGasless(payment, rail)} />
      <noscript>
        <p class="warning">{speech.say("needsScript")}</p>
      </noscript>
    </div>
  );
}

/** For the eye only: the words say the same. */
function Mark({ mood }: { readonly mood: string }) {
  const path = marks[mood];
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="11" />
      {path ? <path d={path} /> : null}
    </svg>
  );
}

/** What came from a link or an invoice goes on there: it can be begun anew, and the invoice says that it is paid. */
function Onward({ payment, status, speech }: Pick<CheckoutProps, "payment" | "status" | "speech">) {
  const { source, metadata, merchantReference } = payment.intent;
  const { phase } = status;
  const isAnew = isUnpaid(payment, status);
  const isInvoice = (source === "invoice" || source === "subscription") && metadata.invoiceId;
  if (isInvoice && (isAnew || phase === "paid"))
    return (
      <a class={isAnew ? "primary" : "secondary"} href={`/invoices/${metadata.invoiceId}/view`}>
        {speech.say("invoice", { number: merchantReference ?? "" })}
      </a>
    );
  if (source === "payment-link" && metadata.paymentLinkId && isAnew)
    return (
      <a class="primary" href={`/checkout/${metadata.paymentLinkId}`}>
        {speech.say("restart")}
      </a>
    );
  return null;
}

/** A page of the merchant's own origin: it was checked when the intent was made. */
function backTo(returnUrl: string, id: string): string {
  const url = new URL(returnUrl);
  url.searchParams.set("paymentIntentId", id);
  return url.href;
}
