/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { presentAmount } from "../../http/money.ts";
import type { RailOffer } from "../verbs/checkout.ts";
import type { Speech } from "../words/index.ts";
import { chainName } from "./chains.ts";
import { Coin } from "./coin.tsx";
import type { CheckoutProps } from "./props.ts";
import { Way } from "./way.tsx";

/** A card for each coin on each network: one tap, with or without a script. */
export function Chooser({ status, payment, offers, rail, brand, speech }: CheckoutProps) {
  const { say } = speech;
  const { asked, provider } = payment.intent;
  if (provider !== "evm") return <AtProvider id={status.id} provider={provider} speech={speech} />;
  return (
    <section aria-labelledby="choose">
      <h2 id="choose">{say("chooseTitle")}</h2>
      <p class="hint">{say("chooseHint")}</p>
      {offers.length === 0 ? (
        <p class="warning">{say(brand.isSuspended ? "merchant_suspended" : "noRails")}</p>
      ) : null}
      <ul class="rails">
        {offers.map((offer) => (
          <li>
            <Card
              id={status.id}
              offer={offer}
              isTaken={offer.rail === rail}
              path={
                offer.rail.router || asked.executionPath !== "on-chain-contract"
                  ? asked.executionPath
                  : "deposit-match"
              }
              speech={speech}
            />
          </li>
        ))}
      </ul>
      <SpreadNote offers={offers} speech={speech} />
      <p class="hint">{say("feeNote")}</p>
      {status.phase === "choose" ? null : <a href={`/checkout/${status.id}`}>{say("keepRail")}</a>}
    </section>
  );
}

/** The seller's margin is the same on all rates. */
function SpreadNote({ offers, speech }: Pick<CheckoutProps, "offers" | "speech">) {
  const bps = Math.max(0, ...offers.map((offer) => (offer.ok ? (offer.rate.spreadBps ?? 0) : 0)));
  return bps === 0 ? null : <p class="hint">{speech.say("spreadNote", { percent: bps / 100 })}</p>;
}

interface CardProps {
  readonly id: string;
  readonly offer: RailOffer;
  readonly isTaken: boolean;
  readonly path: "deposit-match" | "on-chain-contract" | "x402";
  readonly speech: Speech;
}

function Card({ id, offer, isTaken, path, speech }: CardProps) {
  const { chain, asset, depth, blockTimeSeconds } = offer.rail;
  const { say } = speech;
  const time = timeOf((path === "x402" ? depth.x402 : depth.standard) * blockTimeSeconds, speech);
  const name = (
    <span class="rail-name">
      <strong>{asset}</strong> <span class="muted">{say("onChain", { chain: chainName(chain) })}</span>
    </span>
  );
  if (!offer.ok)
    return (
      <div class="rail off">
        <Coin asset={asset} />
        {name}
        <span class="rail-price">{say(offer.problem)}</span>
      </div>
    );
  return (
    <Way id={id} chain={chain} asset={asset} path={path} class="rail" isTaken={isTaken}>
      <Coin asset={asset} />
      {name}
      <span class="rail-price">
        <strong class="money">{presentAmount({ amount: offer.due, asset }).display}</strong>
        <span class="muted">
          <span>{rateText(offer, speech)}</span> · <span>{say("about", { time })}</span>
        </span>
      </span>
    </Way>
  );
}

function rateText(offer: RailOffer & { readonly ok: true }, { say }: Speech): string {
  const { from, to, source, scaledRate } = offer.rate;
  if (source === "parity" || source === "identity") return say("rateParity", { from, to });
  return say("rate", { from, to, rate: short(scaledRate) });
}

/** A rate with six digits behind the point; 18 are kept of it. */
function short(scaledRate: bigint): string {
  const micro = scaledRate / 10n ** 12n;
  return `${micro / 1_000_000n}.${String(micro % 1_000_000n).padStart(6, "0")}`.replace(/0{1,4}$/, "");
}

function timeOf(seconds: number, { say }: Speech): string {
  return seconds < 90
    ? say("seconds", { n: Math.ceil(seconds) })
    : say("minutes", { n: Math.round(seconds / 60) });
}

/** A provider has rails of its own; its payment begins with one tap. */
function AtProvider({
  id,
  provider,
  speech,
}: {
  readonly id: string;
  readonly provider: string;
  readonly speech: Speech;
}) {
  return (
    <section class="stack">
      <h2>{speech.say("providerTitle", { provider })}</h2>
      <Way id={id} chain={provider} asset="USDC" path="deposit-match" class="primary">
        {speech.say("provider")}
      </Way>
    </section>
  );
}
