import pg from "pg";

/** Seen as often as this, a statement is worth a plan of its own on each connection. */
const OFTEN = 3;
/** Texts that are counted, and so the most that a connection keeps: what is written with ever new texts must not fill
 *  the server's memory. */
const LIMIT = 1_000;

const seen = new Map<string, { readonly name: string; times: number }>();

/** The name under which a statement is kept prepared; undefined for one that is rare so far. */
function nameOf(text: string): string | undefined {
  const known = seen.get(text);
  if (!known) {
    if (seen.size < LIMIT) seen.set(text, { name: `s${seen.size}`, times: 1 });
    return undefined;
  }
  known.times += 1;
  return known.times > OFTEN ? known.name : undefined;
}

/** A connection that has PostgreSQL parse and plan each of our statements once, not once per call. Texts and names are
 *  the process's, so every connection of it knows them by the same name. */
export class NamingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: every form of `query`, handed on as it came
  override query(config: any, values?: any, callback?: any): any {
    return super.query(named(config, values) as string, values, callback);
  }
}

/** Only statements with parameters: those without are COMMIT and its like, or are run once. */
function named(config: unknown, values: unknown): unknown {
  if (!Array.isArray(values) || values.length === 0) return config;
  if (typeof config !== "object" || config === null) return config;
  const { text, name } = config as { readonly text?: unknown; readonly name?: unknown };
  if (typeof text !== "string" || name !== undefined) return config;
  const prepared = nameOf(text);
  return prepared === undefined ? config : { ...config, name: prepared };
}
