/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

interface PanelProps {
  readonly title: string;
  /** For who hears it, apart from all the other panels of the page. */
  readonly label: string;
  readonly text: string;
  readonly kind: keyof typeof tokens;
}

/** Program text, to be copied. It scrolls by itself, so it can be reached with the keyboard. */
export function Panel({ title, label, text, kind }: PanelProps) {
  return (
    <div class="panel">
      <p class="caption">
        <span>{title}</span>
        <button type="button" class="copy script-only" aria-label={`Copy: ${label}`}>
          Copy
        </button>
      </p>
      <figure tabindex={0} aria-label={label}>
        <pre>
          <code>{coloured(text, kind)}</code>
        </pre>
      </figure>
    </div>
  );
}

const string = '"(?:[^"\\\\\\n]|\\\\.)*"';
/** What is set apart, each kind by a group of its own: names of members, strings, other values; flags of a command. */
const tokens = {
  json: new RegExp(`(${string}(?=:))|(${string})|\\b(true|false|null|-?\\d+(?:\\.\\d+)?)\\b`, "g"),
  sh: new RegExp(`(${string}(?=:))|(${string})|(?<=\\s)(-{1,2}[A-Za-z][\\w-]*)(?=\\s)`, "g"),
} as const;

function coloured(text: string, kind: keyof typeof tokens): Child[] {
  const parts: Child[] = [];
  let end = 0;
  for (const { 0: token, 1: name, 2: string, index } of text.matchAll(tokens[kind])) {
    parts.push(text.slice(end, index));
    parts.push(name ? <b>{token}</b> : string ? <i>{token}</i> : <u>{token}</u>);
    end = index + token.length;
  }
  return [...parts, text.slice(end)];
}
