/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { RailFacts } from "#facilitator";
import { amountOf } from "../present.ts";
import { chainName } from "./chains.ts";
import type { CheckoutProps } from "./props.ts";
import { Signed } from "./signed.tsx";

interface WalletProps extends CheckoutProps {
  readonly rail: RailFacts;
  readonly isGasless: boolean;
}

/** What a wallet in this browser needs; the script shows it. What is named here is what is signed. */
export function Wallet({ status, speech, rail, isGasless }: WalletProps) {
  const { say } = speech;
  const { remaining, executionPath, merchant, address } = status;
  if (remaining === null) return null;
  const facts = {
    chainId: rail.domain.chainId,
    chainName: chainName(rail.chain),
    explorer: rail.explorer ?? "",
    symbol: rail.asset,
    decimals: rail.decimals,
    token: rail.contract,
    payTo: rail.payTo,
    router: rail.router,
    to: executionPath === "deposit-match" ? address : null,
    amount: amountOf(remaining).toString(),
    path: executionPath,
  };
  const amount = remaining.display;
  const signed = { rail, amount: remaining, speech };
  return (
    <section
      class="wallet"
      id="wallet"
      aria-labelledby="wallet-title"
      data-facts={JSON.stringify(facts)}
      hidden
    >
      <h3 id="wallet-title">{say("walletTitle")}</h3>
      <fieldset class="plain">
        <legend class="visually-hidden">{say("walletFind")}</legend>
        <div class="wallets" id="wallets" />
      </fieldset>
      <div class="actions" id="wallet-actions" hidden>
        {isGasless ? (
          <>
            <button type="button" class="primary" data-do="sign">
              {say("gasless")}
            </button>
            <p class="hint">{say("gaslessHint", { amount, merchant: merchant.name })}</p>
            <Signed {...signed} to={rail.payTo} through={null} until="signing" isOpen={true} />
          </>
        ) : null}
        {executionPath === "deposit-match" && address !== null ? (
          <>
            <button type="button" class={isGasless ? "secondary" : "primary"} data-do="send">
              {say("send", { amount })}
            </button>
            <Signed {...signed} to={address} through={null} until={null} isOpen={!isGasless} />
          </>
        ) : null}
        {executionPath === "on-chain-contract" ? (
          <>
            <button type="button" class={isGasless ? "secondary" : "primary"} data-do="contract">
              {say("sendContract", { amount })}
            </button>
            <Signed
              {...{ ...signed, to: rail.payTo, through: rail.router }}
              until={new Date(status.expiresAt)}
              isOpen={!isGasless}
            />
          </>
        ) : null}
      </div>
      <p class="wallet-note" id="wallet-note" role="status" aria-live="polite" />
    </section>
  );
}
