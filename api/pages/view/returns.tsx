/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { chainName } from "./chains.ts";
import type { CheckoutProps } from "./props.ts";
import { Transaction } from "./transaction.tsx";

/** What of the money went back, or is on its way. */
export function Returns({ status, speech }: Pick<CheckoutProps, "status" | "speech">) {
  const { say } = speech;
  if (status.returned.length === 0) return null;
  return (
    <ul class="refunds">
      {status.returned.map(({ amount, chain, state, transactionHash, explorerUrl }) => (
        <li>
          <h3>
            {say(state === "sent" ? "refundDone" : "refundPending", { amount: amount.display })}{" "}
            {say("onChain", { chain: chainName(chain) })}
          </h3>
          {transactionHash ? (
            <Transaction hash={transactionHash} label={say("transaction")} url={explorerUrl} />
          ) : null}
        </li>
      ))}
    </ul>
  );
}
