/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Refused } from "../form.ts";
import { idOf } from "./form.tsx";

/** Why a form was refused, with a way to each field that it is about. At the top of the page: what has changed meanwhile
 *  may have taken the form itself away. */
export function Problem({
  of: { title, detail, errors },
}: {
  readonly of: Pick<Refused, "title" | "detail" | "errors">;
}) {
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      <p>{detail}</p>
      {errors.length === 0 ? null : (
        <ul>
          {errors.map((error) => (
            <li>
              <a href={`#${idOf(error.name)}`}>{error.name === "" ? "the form" : error.name}</a>:{" "}
              {error.detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
