/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { RailFacts } from "#facilitator";
import type { Money } from "../../http/money.ts";
import { amountOf } from "../present.ts";
import { TIME_TO_SIGN_MS } from "../verbs/checkout.ts";
import type { Speech } from "../words/index.ts";
import { chainName } from "./chains.ts";

interface SignedProps {
  readonly rail: RailFacts;
  readonly amount: Money;
  /** Whom the money goes to. */
  readonly to: string;
  /** The contract that is called with it; null where it is the token's own. */
  readonly through: string | null;
  /** How long what is signed is good: null where it has no end, `signing` where that begins with the signature. */
  readonly until: Date | "signing" | null;
  /** Shown at once, and not only when it is asked for. */
  readonly isOpen: boolean;
  readonly speech: Speech;
}

/** What a wallet should show before it is confirmed, for a person to compare with what it does show. */
export function Signed({ rail, amount, to, through, until, isOpen, speech }: SignedProps) {
  const { say } = speech;
  const units = amountOf(amount).toString();
  return (
    <details class="signed" open={isOpen}>
      <summary>{say("walletShows")}</summary>
      <p class="hint">{say("walletShowsHint")}</p>
      <dl class="facts">
        <dt>{say("showsAmount")}</dt>
        <dd>{say("showsUnits", { amount: amount.display, units })}</dd>
        <dt>{say("showsCoin")}</dt>
        <dd>
          {rail.asset} <span class="mono">{rail.contract}</span>
        </dd>
        <dt>{say("showsTo")}</dt>
        <dd class="mono">{to}</dd>
        {through === null ? null : (
          <>
            <dt>{say("showsContract")}</dt>
            <dd class="mono">{through}</dd>
          </>
        )}
        <dt>{say("showsChain")}</dt>
        <dd>{say("showsChainId", { chain: chainName(rail.chain), id: rail.domain.chainId })}</dd>
        {until === null ? null : (
          <>
            <dt>{say("showsUntil")}</dt>
            <dd data-valid-before={until === "signing" ? "" : undefined}>
              {until === "signing"
                ? say("showsFor", { n: TIME_TO_SIGN_MS / 60_000 })
                : say("showsAt", { time: inUtc(until), seconds: until.getTime() / 1_000 })}
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

function inUtc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
