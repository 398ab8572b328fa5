/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { findCurrency } from "../../http/currency.ts";
import { presentAmount } from "../../http/money.ts";
import type { Brand } from "../../merchant/verbs/brand.ts";
import type { LinkView } from "../verbs/link.ts";
import type { Speech } from "../words/index.ts";
import { type Dressed, Page } from "./layout.tsx";
import { roomFor } from "./room.ts";
import { Seller } from "./seller.tsx";

interface LinkProps extends LinkView, Dressed {
  readonly brand: Brand;
  /** Makes the same form sent twice one payment. */
  readonly token: string;
  readonly problem: Parameters<Speech["say"]>[0] | null;
  /** The amount that was sent with it. */
  readonly typed: string;
}

/** The page of a payment link. */
export function LinkPage(props: LinkProps) {
  const { link, speech, assets, brand, problem } = props;
  const { say } = speech;
  const { name } = link.merchant;
  return (
    <Page title={say("pay", { merchant: name })} speech={speech} assets={assets} brand={brand}>
      <main class="ticket">
        <header class="stub">
          <Seller merchant={link.merchant} brand={brand} />
          {link.amount ? (
            <>
              <p class="label">{link.title ?? say("amountDue")}</p>
              <h1 class="amount" data-room={roomFor(link.amount.display)}>
                {link.amount.display}
              </h1>
            </>
          ) : (
            <h1 class="about">{link.title ?? say("pay", { merchant: name })}</h1>
          )}
        </header>
        <div class="body">
          {problem && !isAtField(problem, props) && (link.payable || problem !== "linkPending") ? (
            <p class="problem" role="alert">
              {told(problem, props)}
            </p>
          ) : null}
          {link.payable ? <Form {...props} /> : <Closed {...props} />}
        </div>
      </main>
    </Page>
  );
}

/** Whether it is about the amount, and there is a field for that. */
function isAtField(problem: LinkProps["problem"], { link }: LinkProps): boolean {
  const isOfAmount = ["amountWrong", "amount_too_small", "amount_too_large"].some((each) => each === problem);
  return isOfAmount && link.kind === "open" && link.payable;
}

function Form(props: LinkProps) {
  const { link, lines, speech, token } = props;
  const { say } = speech;
  return (
    <form method="post" action={`/checkout/${link.id}/pay`} class="stack">
      <h2>{say("pay", { merchant: link.merchant.name })}</h2>
      {lines.length > 0 ? (
        <ul class="lines">
          {lines.map(({ name, quantity, total }) => (
            <li>
              <span class="name">
                <bdi>{name}</bdi>
                {quantity > 1 ? <span class="muted"> × {quantity}</span> : null}
              </span>
              <strong class="money">{presentAmount(total).display}</strong>
            </li>
          ))}
        </ul>
      ) : null}
      <input type="hidden" name="token" value={token} />
      {link.kind === "open" ? <Amount {...props} /> : null}
      <button type="submit" class="primary">
        {link.amount ? say("payNow", { amount: link.amount.display }) : say("continueToPay")}
      </button>
      <p class="hint">{say("chooseHint")}</p>
    </form>
  );
}

/** What was wrong; of an amount that is out of the link's bounds, which bound it is. */
function told(problem: NonNullable<LinkProps["problem"]>, { link, speech }: LinkProps): string {
  const { say } = speech;
  const [min, max] = [link.minAmount?.display, link.maxAmount?.display];
  if (problem === "amount_too_small" && min) return say("amountFrom", { min });
  if (problem === "amount_too_large" && max) return say("amountTo", { max });
  return say(problem, { example: exampleOf(link.currency, speech) });
}

/** How an amount of the currency is written in the payer's language. */
function exampleOf(currency: string, { lang }: Speech): string {
  const decimals = Math.min(2, findCurrency(currency)?.decimals ?? 2);
  const form = new Intl.NumberFormat(lang, { minimumFractionDigits: decimals, useGrouping: false });
  return form.format(decimals === 0 ? 1250 : 12.5);
}

function Amount(props: LinkProps) {
  const { link, speech, typed, problem } = props;
  const { say } = speech;
  const wrong = problem && isAtField(problem, props) ? told(problem, props) : null;
  const [min, max] = [link.minAmount?.display, link.maxAmount?.display];
  return (
    <div class="field">
      <label for="amount">{say("yourAmount")}</label>
      <div class="copyable">
        <input
          id="amount"
          name="amount"
          class="value big"
          inputmode="decimal"
          autocomplete="off"
          pattern="[0-9]+([.,][0-9]+)?"
          maxlength={20}
          value={typed}
          required
          autofocus={wrong !== null}
          aria-invalid={wrong === null ? undefined : "true"}
          aria-describedby={wrong === null ? "bounds" : "wrong bounds"}
        />
        <input type="hidden" name="currency" value={link.currency} />
        <span class="unit">{link.currency}</span>
      </div>
      {wrong === null ? null : (
        <p class="problem" id="wrong" role="alert">
          {wrong}
        </p>
      )}
      <p class="hint" id="bounds">
        {min && max
          ? say("amountBounds", { min, max })
          : min
            ? say("amountFrom", { min })
            : max
              ? say("amountTo", { max })
              : say("amountWrong", { example: exampleOf(link.currency, speech) })}
      </p>
    </div>
  );
}

function Closed({ link, obstacle, brand, speech }: LinkProps) {
  const forNow = forNowOf(obstacle, brand);
  if (forNow !== null)
    return (
      <section class="outcome over">
        <h2>{speech.say(forNow)}</h2>
      </section>
    );
  return (
    <section class="outcome over">
      <h2>{speech.say("linkClosed")}</h2>
      <p>{speech.say("linkClosedHint", { merchant: link.merchant.name })}</p>
    </section>
  );
}

/** Why it cannot be paid now, though nobody needs another link; null where it is over. */
function forNowOf(obstacle: LinkProps["obstacle"], { isSuspended }: Brand) {
  if (isSuspended) return "merchant_suspended";
  // Its last place is taken, but may come free again.
  if (obstacle === "pending") return "linkPending";
  return obstacle === null ? "noRails" : null;
}
