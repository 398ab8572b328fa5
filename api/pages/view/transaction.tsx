/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */

interface TransactionProps {
  readonly hash: string;
  readonly label: string;
  /** Where it can be looked up; null where nobody keeps an explorer of the chain. */
  readonly url: string | null;
}

/** A transaction by its hash, and where it can be looked up. */
export function Transaction({ hash, label, url }: TransactionProps) {
  const short = `${hash.slice(0, 10)}…${hash.slice(-8)}`;
  return (
    <dl class="facts">
      <dt>{label}</dt>
      <dd class="mono">
        {url ? (
          <a href={url} rel="noreferrer noopener" target="_blank" title={hash}>
            {short}
          </a>
        ) : (
          <span title={hash}>{short}</span>
        )}
      </dd>
    </dl>
  );
}
