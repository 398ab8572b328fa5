/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { checksum } from "#kernel/bytes";
import { presentAmount } from "../../http/money.ts";
import type { Brand } from "../../merchant/verbs/brand.ts";
import type { OpenRefunds, Refund } from "../verbs/refund.ts";
import { type Speech, wordsOf } from "../words/index.ts";
import { chainName } from "./chains.ts";
import { type Dressed, Page } from "./layout.tsx";
import { Transaction } from "./transaction.tsx";

interface RefundProps extends OpenRefunds, Dressed {
  readonly brand: Brand;
  readonly id: string;
  readonly explorer: string | null;
  /** Why the payer is here again: a key of the words. */
  readonly problem: Parameters<Speech["say"]>[0] | null;
}

const told = [
  "walletNone",
  "walletFind",
  "walletOfBrowser",
  "walletConnected",
  "walletConfirm",
  "walletRejected",
  "walletFailed",
  "walletOther",
  "walletAddress",
  "refund_destination",
  "refund_nothing",
] as const;

/** The page where the payer of a refunded payment sees what became of it, and claims what waits for an address. */
export function RefundPage(props: RefundProps) {
  const { id, seller, refunds, waiting, problem, speech, assets, brand } = props;
  const { say } = speech;
  const merchant = seller.name;
  return (
    <Page title={say("refundTitle", { merchant })} speech={speech} assets={assets} brand={brand}>
      <main
        class="ticket lone"
        id="refund"
        data-id={id}
        data-words={JSON.stringify(wordsOf(speech.lang, told))}
      >
        <header class="stub">
          {brand.logo ? <img class="logo" src={brand.logo} alt="" /> : null}
          <h1>{say("refundTitle", { merchant })}</h1>
        </header>
        <div class="body stack">
          {problem ? (
            <p class="problem" role="alert">
              {say(problem, { merchant })}
            </p>
          ) : null}
          {refunds.length === 0 ? <p>{say("refundNone")}</p> : null}
          {waiting ? <Claim {...props} waiting={waiting} /> : null}
          <ul class="refunds">
            {refunds
              .filter((refund) => !waiting || refund.state !== "requires-destination")
              .map((refund) => (
                <li>
                  <Told refund={refund} {...props} />
                </li>
              ))}
          </ul>
          <p>
            <a href={`/checkout/${id}`}>{say("seePayment")}</a>
          </p>
        </div>
      </main>
    </Page>
  );
}

const saidOf = {
  "requires-destination": "refundWaiting",
  pending: "refundPending",
  processing: "refundPending",
  succeeded: "refundDone",
  failed: "refundFailed",
  cancelled: "refundCancelled",
} as const satisfies Record<Refund["state"], string>;

function Told({ refund, seller, explorer, speech }: RefundProps & { readonly refund: Refund }) {
  const { say } = speech;
  const { state, amount, destination, providerReference } = refund;
  return (
    <>
      <h2>{say(saidOf[state], { amount: amount.display, merchant: seller.name })}</h2>
      {destination ? (
        <dl class="facts">
          <dt>{say("refundTo")}</dt>
          <dd class="mono">{destination}</dd>
        </dl>
      ) : null}
      {providerReference ? (
        <Transaction
          hash={providerReference}
          label={say("transaction")}
          url={explorer && `${explorer}/tx/${providerReference}`}
        />
      ) : null}
    </>
  );
}

type ClaimProps = RefundProps & { readonly waiting: NonNullable<OpenRefunds["waiting"]> };

function Claim({ id, seller, chain, waiting, speech }: ClaimProps) {
  const { say } = speech;
  const on = { merchant: seller.name, chain: chainName(chain ?? "") };
  if (waiting.payer === null) return <p class="warning">{say("refundAsk", on)}</p>;
  const payer = checksum(waiting.payer);
  return (
    <section class="stack" aria-labelledby="claim-title">
      <h2 id="claim-title">{say("refundWaits")}</h2>
      <p class="hint">{say("refundWaitsHint")}</p>
      <dl class="facts">
        <dt>{say("refundPayer")}</dt>
        <dd class="mono">{payer}</dd>
      </dl>
      <noscript>
        <p class="warning">{say("needsScript")}</p>
      </noscript>
      <section class="wallet" id="wallet" aria-labelledby="wallet-title" data-payer={payer} hidden>
        <h3 id="wallet-title">{say("walletFind")}</h3>
        <div class="wallets" id="wallets" />
        <form method="post" action={`/checkout/${id}/refund`} id="wallet-actions" class="stack" hidden>
          <div class="field">
            <label for="destination">{say("refundAddress", on)}</label>
            <div class="copyable">
              <input
                id="destination"
                name="destination"
                class="value mono"
                pattern="0x[0-9a-fA-F]{40}"
                maxlength={42}
                autocomplete="off"
                spellcheck={false}
                required
              />
            </div>
          </div>
          <input type="hidden" name="account" value={payer} />
          <input type="hidden" name="nonce" />
          <input type="hidden" name="signature" />
          <button type="button" class="primary" data-do="claim">
            {say("refundSign", { amount: presentAmount(waiting).display })}
          </button>
          <p class="hint">{say("refundSignHint")}</p>
        </form>
        <p class="wallet-note" id="wallet-note" role="status" aria-live="polite" />
      </section>
      <p class="hint">{say("refundNoWallet", on)}</p>
    </section>
  );
}
