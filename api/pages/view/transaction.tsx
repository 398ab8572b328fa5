/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */

interface TransactionProps {
  readonly hash: string;
  readonly label: string;
  /** Of the chain; null where nobody keeps one. */
  readonly explorer: string | null;
}

/** A transaction by its hash, and where it can be looked up. */
export function Transaction({ hash, label, explorer }: TransactionProps) {
  const short = `${hash.slice(0, 10)}…${hash.slice(-8)}`;
  return (
    <dl class="facts">
      <dt>{label}</dt>
      <dd class="mono">
        {explorer ? (
          <a href={`${explorer}/tx/${hash}`} rel="noreferrer noopener" target="_blank" title={hash}>
            {short}
          </a>
        ) : (
          <span title={hash}>{short}</span>
        )}
      </dd>
    </dl>
  );
}
