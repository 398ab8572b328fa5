/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { newsOf } from "../island/news.ts";
import { isOver, isReturning, paidWith } from "../present.ts";
import { wordsOf } from "../words/index.ts";
import { chainName } from "./chains.ts";
import { Chooser } from "./chooser.tsx";
import { Page } from "./layout.tsx";
import { Outcome, outcomeOf } from "./outcome.tsx";
import { PayPanel } from "./pay-panel.tsx";
import type { CheckoutProps } from "./props.ts";
import { roomFor } from "./room.ts";
import { Seller } from "./seller.tsx";

/** Without a script, a page that waits asks again. */
const REFRESH_SECONDS = 10;
const told = [
  "copied",
  "walletNone",
  "walletFind",
  "walletOfBrowser",
  "walletConnected",
  "walletConfirm",
  "walletApprove",
  "walletSent",
  "walletRejected",
  "walletPoor",
  "walletChain",
  "walletFailed",
  "walletUnknown",
  "walletUnsure",
  "walletChanged",
  "walletHeld",
  "showsAt",
  "timeUp",
  "transaction",
] as const;

/** The page where a person pays. Everything on it is made here; its script only asks for it anew. */
export function CheckoutPage(props: CheckoutProps) {
  const { status, speech, assets, brand, problem } = props;
  const { say } = speech;
  const what = say("payTitle", { amount: status.amount.display, merchant: status.merchant.name });
  // Who pays elsewhere reads of this page no more than its tab.
  const title = isAsking(props) ? what : `${outcomeOf(props)} · ${what}`;
  const isWaiting =
    ["waiting", "underpaid", "detected", "settling", "in-review"].includes(status.phase) ||
    isReturning(status);
  return (
    <Page
      title={title}
      speech={speech}
      assets={assets}
      brand={brand}
      refreshSeconds={isWaiting && !props.isChoosing ? REFRESH_SECONDS : undefined}
    >
      <main
        class="ticket"
        id="checkout"
        data-id={status.id}
        data-news={newsOf(status)}
        data-now={status.now}
        data-phase={status.phase}
        data-words={JSON.stringify(wordsOf(speech.lang, told))}
      >
        <Stub {...props} />
        <div class="body">
          {problem && isStillSo(problem, props) ? (
            <p class="problem" role="alert">
              {say(problem)}
            </p>
          ) : null}
          <Body {...props} />
        </div>
      </main>
      <p class="visually-hidden" id="news" role="status" aria-live="polite" />
    </Page>
  );
}

function Stub({ status, payment, speech, brand }: CheckoutProps) {
  const { say } = speech;
  const { merchantReference } = payment.intent;
  const isPaid = status.phase === "paid";
  const money = isPaid ? paidWith(status) : status.due;
  return (
    <header class="stub">
      <Seller merchant={status.merchant} brand={brand} />
      <p class="label">{say(isOver(status) ? "total" : "amountDue")}</p>
      <h1 class="amount" data-room={roomFor(status.amount.display)}>
        {status.amount.display}
      </h1>
      <dl>
        {merchantReference ? (
          <>
            <dt>{say("reference")}</dt>
            <dd>{merchantReference}</dd>
          </>
        ) : null}
        {status.chain && money && (isPaid || !isOver(status)) ? (
          <>
            <dt>{say(isPaid ? "paidWith" : "payWith")}</dt>
            <dd>
              <span class="money">{money.display}</span> {say("onChain", { chain: chainName(status.chain) })}
            </dd>
          </>
        ) : null}
      </dl>
    </header>
  );
}

/** Whether the payer is asked for something. */
function isAsking({ status: { phase } }: CheckoutProps): boolean {
  return phase === "choose" || phase === "waiting" || phase === "underpaid";
}

/** The address keeps what was said once, and is loaded again: when money has come, no word of choosing is said any more. */
function isStillSo(problem: NonNullable<CheckoutProps["problem"]>, { status: { phase } }: CheckoutProps) {
  if (problem === "intent_not_confirmable" || problem === "intent_expired") return true;
  return phase === "choose" || phase === "waiting" || (phase === "underpaid" && problem === "testPayFailed");
}

function Body(props: CheckoutProps) {
  const isChoosing = props.isChoosing && props.offers.length > 0;
  if (props.status.phase === "choose" || isChoosing) return <Chooser {...props} />;
  return isAsking(props) ? <PayPanel {...props} /> : <Outcome {...props} />;
}
