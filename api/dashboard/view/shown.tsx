/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import { useViewer } from "./visit.ts";

const SHORT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** An instant, in UTC. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time datetime={at} title={at}>
      {SHORT.format(new Date(at))} <abbr title="Coordinated Universal Time">UTC</abbr>
    </time>
  );
}

/** An amount as the API shows it: exact to the last digit where somebody looks closer. */
export function Amount({
  of: { display, amount, asset },
}: {
  readonly of: { readonly display: string; readonly amount: string; readonly asset: string };
}) {
  return (
    <span class="money" title={`${amount} ${asset}`}>
      {display}
    </span>
  );
}

export type Tone = "good" | "busy" | "warn" | "bad" | "quiet";

/** The state of a thing, in the word that the API has for it. The color says nothing that the word does not. */
export function Badge({ state, tone }: { readonly state: string; readonly tone: Tone }) {
  return <span class={`badge ${tone}`}>{state.replaceAll("-", " ")}</span>;
}

/** An id, an address or a hash: whole, to be selected at a click. */
export function Code({ children }: { readonly children: string }) {
  return <code class="whole">{children}</code>;
}

/** A name of several words, which goes on in the next line between them and never within one. */
export function Words({ of }: { readonly of: string }) {
  return (
    <span class="words">
      {of.split(/(?<=[._:])/).map((word) => (
        <>
          {word}
          <wbr />
        </>
      ))}
    </span>
  );
}

/** A transaction by its hash, and where it can be looked up. */
export function Transaction({ hash, chain }: { readonly hash: string; readonly chain: string | null }) {
  const explorer = chain && useViewer().explorerOf(chain);
  if (!explorer) return <Code>{hash}</Code>;
  return (
    <a href={`${explorer}/tx/${hash}`} rel="noreferrer noopener" target="_blank">
      <Code>{hash}</Code>
    </a>
  );
}

/** The facts of a thing: a name and a value each. Those without a value are left out. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: Child | null])[] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** What stands where nothing is yet: why, and the first step. */
export function Empty({ title, children }: { readonly title: string; readonly children?: Child }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
