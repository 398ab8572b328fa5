/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Refused } from "../form.ts";
import { labelOf, placeOf } from "./drawn.ts";
import { idOf } from "./form.tsx";
import { useViewer } from "./visit.ts";

/** Why a form was refused, with a way to each field that it is about. At the top of the page: what has changed meanwhile
 *  may have taken the form itself away. */
export function Problem({
  of: { title, detail, errors },
}: {
  readonly of: Pick<Refused, "title" | "detail" | "errors">;
}) {
  const { drawn } = useViewer();
  const placed = errors.map(({ name, detail: why }) => ({ place: placeOf(name, drawn), why }));
  // A field says one thing at a time; what has no field is said whole.
  const said = placed.filter(
    ({ place }, i) => place === "" || placed.findIndex((other) => other.place === place) === i,
  );
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      <p>{detail}</p>
      {said.length === 0 ? null : (
        <ul>
          {said.map(({ place, why }) => (
            <li>
              <a href={place === "" ? "#main" : `#${idOf(place)}`}>{labelOf(place, drawn)}</a>: {why}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
