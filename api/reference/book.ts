/** The document as its pages need it. */
import { type Chapter, chaptersOf, type Refusal, refusalsOf } from "./chapters.ts";
import type { Document } from "./document.ts";

export interface Book {
  readonly document: Document;
  readonly chapters: readonly Chapter[];
  readonly refusals: readonly Refusal[];
  readonly baseUrl: string;
}

export function openBook(document: Document): Book {
  return {
    document,
    chapters: chaptersOf(document),
    refusals: refusalsOf(document),
    baseUrl: document.servers[0]?.url ?? "",
  };
}
