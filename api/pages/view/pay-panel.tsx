/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { isGasless } from "../present.ts";
import { chainName } from "./chains.ts";
import { Field } from "./field.tsx";
import type { CheckoutProps } from "./props.ts";
import { Qr } from "./qr.tsx";
import { Wallet } from "./wallet.tsx";
import { Way } from "./way.tsx";

/** Where the money goes, in every way that a payer may need it. */
export function PayPanel(props: CheckoutProps) {
  const { status, speech, rail } = props;
  const { say } = speech;
  const isShort = status.phase === "underpaid";
  return (
    <section aria-labelledby="state">
      <h2 id="state" class="pulse">
        {say(isShort ? "underpaid" : "waiting")}
      </h2>
      {isShort ? (
        <p class="warning">
          {say("underpaidHint", {
            received: status.received?.formatted ?? "",
            due: status.due?.formatted ?? "",
          })}
        </p>
      ) : null}
      <Countdown {...props} />
      <TheWay {...props} />
      {props.isTestPayable ? <TestPayment {...props} /> : null}
      {rail ? <Wallet {...props} rail={rail} isGasless={isGasless(props.payment, rail)} /> : null}
      {isShort || !rail ? null : <OtherWays {...props} />}
      <p class="hint script-only">{say("waitingHint")}</p>
      <noscript>
        <p class="hint">{say("waitingNoScript")}</p>
      </noscript>
    </section>
  );
}

/** The way that the payment is on, for whoever has no wallet in this browser too. */
function TheWay(props: CheckoutProps) {
  const { executionPath, merchant } = props.status;
  const { provider } = props.payment.intent;
  if (provider !== "evm") {
    const { say } = props.speech;
    return (
      <div class="notice">
        <h3>{say("providerTitle", { provider })}</h3>
        <p class="hint">{say("providerHint", { merchant: merchant.name })}</p>
      </div>
    );
  }
  if (executionPath === "deposit-match") return <Transfer {...props} />;
  const words = executionPath === "x402" ? "signature" : "contract";
  return (
    <div class="notice">
      <h3>{props.speech.say(`${words}Title`)}</h3>
      <p class="hint">{props.speech.say(`${words}Hint`)}</p>
      <noscript>
        <p class="warning">{props.speech.say("needsScript")}</p>
      </noscript>
    </div>
  );
}

function Transfer({ status, speech }: CheckoutProps) {
  const { say } = speech;
  const { address, remaining, uri, chain } = status;
  if (address === null || remaining === null || chain === null) return null;
  return (
    <div class="transfer">
      {uri ? (
        <figure>
          <a href={uri}>
            <Qr text={uri} label={say("qrLabel", { amount: remaining.formatted, address })} />
          </a>
          <figcaption>{say("scan")}</figcaption>
        </figure>
      ) : null}
      <div class="fields">
        <Field
          id="amount"
          label={say(status.phase === "underpaid" ? "remaining" : "sendExactly")}
          value={short(remaining.amount)}
          unit={remaining.asset}
          copyLabel={say("copyAmount")}
          speech={speech}
        />
        <Field
          id="address"
          label={say("toAddress")}
          value={address}
          isGrouped
          copyLabel={say("copyAddress")}
          speech={speech}
        />
        <p class="warning">{say("onlySend", { asset: remaining.asset, chain: chainName(chain) })}</p>
      </div>
    </div>
  );
}

/** Of a sandbox: with it a newcomer sees a payment through without a wallet. */
function TestPayment({ status, speech }: CheckoutProps) {
  const { say } = speech;
  return (
    <form class="notice" method="post" action={`/checkout/${status.id}/test-payment`}>
      <h3>{say("testPayTitle")}</h3>
      <p class="hint">{say("testPayHint")}</p>
      <button type="submit" class="secondary">
        {say("testPay", { amount: status.remaining?.display ?? "" })}
      </button>
    </form>
  );
}

function Countdown({ status, speech }: CheckoutProps) {
  const until = `${status.expiresAt.slice(0, 16).replace("T", " ")} UTC`;
  return (
    <p class="countdown">
      <span class="script-only">{speech.say("timeLeft")} </span>
      <time datetime={status.expiresAt} data-until={status.expiresAt}>
        {speech.say("payUntil", { time: until })}
      </time>
    </p>
  );
}

function OtherWays({ status, speech, rail }: CheckoutProps) {
  if (!rail) return null;
  const { say } = speech;
  const { chain, asset } = rail;
  const isTransfer = status.executionPath === "deposit-match";
  return (
    <div class="others">
      {isTransfer && rail.router ? (
        <Way id={status.id} chain={chain} asset={asset} path="on-chain-contract" class="quiet">
          {say("byContract")}
        </Way>
      ) : null}
      {isTransfer ? null : (
        <Way id={status.id} chain={chain} asset={asset} path="deposit-match" class="quiet">
          {say("byTransfer")}
        </Way>
      )}
      <a class="quiet" href={`/checkout/${status.id}?change=1`}>
        {say("changeRail")}
      </a>
    </div>
  );
}

/** Exact all the same: only zeros at the end are left out. */
function short(amount: string): string {
  return amount.replace(/(\.\d{2}\d*?)0+$/, "$1");
}
