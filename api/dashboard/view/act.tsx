/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { CSRF, ONCE } from "../form.ts";
import { Problem } from "./problem.tsx";
import { useViewer } from "./visit.ts";

/** A form that is nothing but its button: for what can be undone. */
export function Act({ action, name }: { readonly action: string; readonly name: string }) {
  const { csrfToken, newKey, refused } = useViewer();
  return (
    <form method="post" action={action} class="act">
      {refused?.path === action ? <Problem of={refused} /> : null}
      <input type="hidden" name={CSRF} value={csrfToken} />
      <input type="hidden" name={ONCE} value={newKey()} />
      <button type="submit">{name}</button>
    </form>
  );
}
