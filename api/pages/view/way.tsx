/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { ExecutionPath } from "../../rate/schema.ts";

interface WayProps {
  readonly id: string;
  readonly chain: string;
  readonly asset: string;
  readonly path: ExecutionPath;
  readonly class: string;
  readonly isTaken?: boolean;
  readonly children?: Child;
}

/** A button that sends the payment this way. */
export function Way({ id, chain, asset, path, class: name, isTaken, children }: WayProps) {
  return (
    <form method="post" action={`/checkout/${id}/confirm`}>
      <input type="hidden" name="chain" value={chain} />
      <input type="hidden" name="asset" value={asset} />
      <input type="hidden" name="executionPath" value={path} />
      <button type="submit" class={name} aria-current={isTaken ? "true" : undefined}>
        {children}
      </button>
    </form>
  );
}
