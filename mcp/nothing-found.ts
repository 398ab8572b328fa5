import type { Members } from "./deps.ts";
import type { Next } from "./result.ts";

/** What to do after a search that found nothing: who asked for everything has no word and no filter to drop. */
export function nothingFound(tool: string, filter: Members): Next {
  const isNarrowed = Object.values(filter).some((value) => value !== undefined && value !== "");
  return isNarrowed
    ? { action: "fix-and-retry", text: "Nothing matches. Use fewer words, or drop a filter.", tool }
    : { action: "done", text: "Nothing is listed here now. What is not listed is paid by its URL or id." };
}
