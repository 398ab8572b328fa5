/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
/** What descriptions are written in: paragraphs, with code between backticks. */
export function Prose({ text }: { readonly text: string | undefined }) {
  const paragraphs = (text ?? "").split(/\n\s*\n/).filter((each) => each.trim() !== "");
  return (
    <>
      {paragraphs.map((each) => (
        <p>
          <Words text={each} />
        </p>
      ))}
    </>
  );
}

export function Words({ text }: { readonly text: string }) {
  // Split by a group, every other part is what stood between two backticks.
  return <>{text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? <code>{part}</code> : part))}</>;
}

/** A path that a narrow page may break behind its slashes. */
export function Path({ of }: { readonly of: string }) {
  return (
    <code class="path">
      {of.split(/(?<=\/)/).map((step) => (
        <>
          {step.startsWith("{") ? <var>{step}</var> : step}
          <wbr />
        </>
      ))}
    </code>
  );
}

export function Method({ of }: { readonly of: string }) {
  return <span class={`method ${of.toLowerCase()}`}>{of}</span>;
}
