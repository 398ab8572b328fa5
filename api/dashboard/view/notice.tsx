/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */

/** What has just been done: the page before said so in the address, by a word that this page knows. */
export function Notice({
  code,
  words,
}: {
  readonly code: string | undefined;
  readonly words: Readonly<Record<string, string>>;
}) {
  if (code === undefined || !Object.hasOwn(words, code)) return null;
  return (
    <p class="notice" role="status">
      {words[code]}
    </p>
  );
}
