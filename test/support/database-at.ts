/** Where tests find databases. */

/** Migrated, and cloned by whoever needs one. */
export const TEMPLATE = "farebox_template";

/** The same database at another port, by TCP. */
export function atPort(url: string, port: number): string {
  const at = new URL(url);
  at.port = String(port);
  at.searchParams.delete("host"); // of the Unix socket
  return at.toString();
}

export function databaseAt(url: string, name: string): string {
  const at = new URL(url);
  at.pathname = `/${name}`;
  return at.toString();
}
