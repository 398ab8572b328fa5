/** Where tests find databases. */

/** Migrated, and cloned by whoever needs one. */
export const TEMPLATE = "farebox_template";

export function databaseAt(url: string, name: string): string {
  const at = new URL(url);
  at.pathname = `/${name}`;
  return at.toString();
}
