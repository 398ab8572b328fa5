import { en, type Words } from "./en.ts";

export type { Words } from "./en.ts";
/** The language of all mails, until something tells a reader's. */
export const words: Words = en;
