/** The statements that one request sends to the database, written down so that they can be sent again with other ids. */
import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

export interface Statement {
  readonly text: string;
  /** JSON; bytes as `{ hex }`. */
  readonly values: readonly unknown[];
}

const recording = new AsyncLocalStorage<Statement[]>();

/** What `work` asks of the database, in order. */
export async function recordStatements(work: () => Promise<void>): Promise<readonly Statement[]> {
  const { prototype } = pg.Client;
  const original = prototype.query;
  prototype.query = function record(this: pg.Client, ...args: unknown[]) {
    recording.getStore()?.push(statementOf(args));
    return Reflect.apply(original, this, args);
  } as typeof original;
  const statements: Statement[] = [];
  try {
    await recording.run(statements, work);
  } finally {
    prototype.query = original;
  }
  return statements;
}

function statementOf([first, second]: readonly unknown[]): Statement {
  const config =
    typeof first === "string" ? { text: first } : (first as { text: string; values?: unknown[] });
  const values = Array.isArray(second) ? second : ((config as { values?: unknown[] }).values ?? []);
  return { text: config.text, values: values.map((value) => freeze(value)) };
}

function freeze(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return { hex: value.toString("hex") };
  if (value instanceof Date) return value.toISOString();
  return value;
}

/** Ids that statements carry, without what says of which kind they are. */
export function idsIn(statements: readonly Statement[]): readonly string[] {
  const packed = statements.flatMap(({ values }) => values.filter(isPacked)).map(({ hex }) => latin1(hex));
  const texts = [JSON.stringify(statements), ...packed];
  return [...new Set(texts.flatMap((text) => text.match(/(?<=[a-z]_)[0-7][0-9A-HJKMNP-TV-Z]{25}/g) ?? []))];
}

/** The values of a statement with every id that the recorded request made replaced by one of the same kind, and as long:
 *  arrays go in PostgreSQL's binary form, which says of each text how long it is. */
export function valuesOf({ values }: Statement, replace: (text: string) => string): readonly unknown[] {
  return values.map((value) => {
    if (typeof value === "string") return replace(value);
    if (Array.isArray(value)) return value.map((each) => (typeof each === "string" ? replace(each) : each));
    return isPacked(value) ? bytesOf(value.hex, replace) : value;
  });
}

function bytesOf(hex: string, replace: (text: string) => string): Buffer {
  const replaced = Buffer.from(replace(latin1(hex)), "latin1");
  if (2 * replaced.length !== hex.length) throw new Error("an id was replaced by one of another length");
  return replaced;
}

function isPacked(value: unknown): value is { readonly hex: string } {
  return typeof value === "object" && value !== null && "hex" in value;
}

/** A letter for each byte. */
function latin1(hex: string): string {
  return Buffer.from(hex, "hex").toString("latin1");
}
