/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { Permission } from "../../http/permissions.ts";
import { useViewer } from "./visit.ts";

/** What only a key with this permission can do or see. Another one is told so. */
export function Needs({
  permission,
  children,
}: {
  readonly permission: Permission;
  readonly children?: Child;
}) {
  const { may } = useViewer();
  if (may(permission)) return <>{children}</>;
  return (
    <p class="muted">
      The key that you signed in with lacks the permission <code>{permission}</code>.
    </p>
  );
}

/** The way to a page on which something is made or changed, for a key that may. */
export function Way({
  to,
  permission,
  isFirst,
  children,
}: {
  readonly to: string;
  readonly permission: Permission;
  /** What most come for. */
  readonly isFirst?: boolean;
  readonly children: Child;
}) {
  const { may } = useViewer();
  if (!may(permission)) return null;
  return (
    <a class={isFirst ? "button primary" : "button"} href={to}>
      {children}
    </a>
  );
}
