/** What of a form is on the page: the labels of its fields and groups, by their names. A page is drawn once to learn them,
 *  since what was wrong is said above the form. */
export type Drawn = Map<string, string>;

/** Where an error is said, once: at its field, or at the nearest group that holds what has no field; of something that is
 *  missing whole, at the first field of it. Empty where none of them is on the page. */
export function placeOf(name: string, drawn: Drawn): string {
  for (let at = name; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("."))))
    if (drawn.has(at)) return at;
  return [...drawn.keys()].find((field) => name !== "" && field.startsWith(`${name}.`)) ?? "";
}

/** The label of a place; one of several rows has its own before it: "Line 1, Unit price". */
export function labelOf(place: string, drawn: Drawn): string {
  const [row] = /^\w+\.\d+(?=\.)/.exec(place) ?? [];
  const label = drawn.get(place) ?? "The form";
  const above = row === undefined ? undefined : drawn.get(row);
  return above === undefined ? label : `${above}, ${label}`;
}
