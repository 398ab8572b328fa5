import { parseStrict } from "../http/strict-json.ts";

/** How what was typed into a field becomes a member of the API's body. Text that is no such thing stays text, so that the
 *  schema says what is wrong with it. `undefined` leaves the member out. */
export type Reading = (values: readonly string[]) => unknown;
/** By the names of fields. */
export type Readings = Readonly<Record<string, Reading>>;

export const asNumber: Reading = ([text]) =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;

/** A box that is ticked or not: browsers send nothing of one that is not. */
export const asFlag: Reading = ([text]) => text === "true";

/** One on each line; none is an empty list. */
export const asLines: Reading = ([text = ""]) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The same where an empty list is not one. */
export const asSomeLines: Reading = (values) => {
  const lines = asLines(values) as readonly string[];
  return lines.length === 0 ? undefined : lines;
};

/** What a browser's field for a day and a time sends, in UTC. */
export const asInstant: Reading = ([text]) =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text) ? `${text}:00Z` : text;

/** Left empty it is none. */
export const asNullable: Reading = ([text]) => text ?? null;

/** Left empty it is the empty text. */
export const asText: Reading = ([text]) => text ?? "";

/** Rails that were ticked, each as `chain/asset`; none is an empty list. */
export const asRails: Reading = (values) =>
  values.map((value) => {
    const [chain = "", asset = ""] = value.split("/");
    return { chain, asset };
  });

/** Read as strictly as the API reads a body. */
export const asJson: Reading = ([text]) => {
  if (text === undefined) return undefined;
  try {
    return parseStrict(text);
  } catch {
    return text;
  }
};
