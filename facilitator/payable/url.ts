/** Longest URL that can be registered, in the form that it is found by: escapes make it longer than it was written. */
const MAX_LENGTH = 2_048;

/** What a payable is found by: scheme, host and path of an absolute http(s) URL, in the form the URL standard gives
 *  them; query and fragment are dropped, because stock servers report the full request URL. Null for anything else,
 *  credentials in the URL included. */
export function payableUrl(text: string): string | null {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  if (url.username !== "" || url.password !== "") return null;
  const found = `${url.protocol}//${url.host}${url.pathname}`;
  return found.length > MAX_LENGTH ? null : found;
}
