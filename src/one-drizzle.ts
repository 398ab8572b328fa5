/** Drizzle asks of every part of every statement what it is, a dozen times, and of most that they are not looks further, in
 *  case another copy of drizzle made them. Where there is one copy, that is a seventh of what statements cost. */

/** The file that does. */
export const drizzleEntity = /\/drizzle-orm\/entity\.js$/;

/** Its source, for a program that holds no other copy. */
export function ofOneDrizzle(source: string): string {
  return `${source.replace("function is(", "function isOfAnyCopy(")}
function is(value, type) { return value instanceof type; }`;
}
