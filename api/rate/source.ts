/** Somebody who quotes prices. */
export type SourceName = "coinbase" | "kraken" | "ecb" | "fixed";

/** What one source said at one moment. */
export interface Reading {
  readonly source: SourceName;
  /** When that was true, by the source's own word. */
  readonly at: Date;
  /** US dollars for one unit of each currency or token it quotes, × 10^18. The dollar itself is there, as 1. */
  readonly dollars: ReadonlyMap<string, bigint>;
}

export interface Source {
  readonly name: SourceName;
  /** Asks once. Rejects when there is no answer that makes sense. */
  read(signal: AbortSignal): Promise<Reading>;
}

/** The way out of the house, as it is handed in. Never throws for what the other side does. */
export type Fetch = (
  url: string,
  request?: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal },
) => Promise<
  | {
      readonly ok: true;
      readonly status: number;
      /** Names in lower case. */
      readonly headers: ReadonlyMap<string, string>;
      readonly body: Uint8Array;
    }
  | { readonly ok: false; readonly problem: string }
>;

export interface Got {
  readonly text: string;
  /** When the answer was made: a cache on the way says how old its copy is. */
  readonly at: Date;
}
export interface GetDeps {
  readonly fetch: Fetch;
  readonly now: () => Date;
}

/** The body of a 200 and its age. Rejects otherwise, naming the host only: a URL may carry a key. */
export async function get({ fetch, now }: GetDeps, url: string, signal: AbortSignal): Promise<Got> {
  const { host } = new URL(url);
  const answer = await fetch(url, {
    headers: { accept: "application/json, application/xml;q=0.9" },
    signal,
  });
  if (!answer.ok) throw new Error(`${host}: ${answer.problem}`);
  if (answer.status !== 200) throw new Error(`${host} answered ${answer.status}`);
  return { text: new TextDecoder().decode(answer.body), at: madeAt(answer.headers) ?? now() };
}

function madeAt(headers: ReadonlyMap<string, string>): Date | null {
  const date = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(date)) return null;
  const age = /^\d{1,9}$/.exec(headers.get("age") ?? "")?.[0] ?? "0";
  return new Date(date - Number(age) * 1_000);
}

/** JSON of a source; what is none is said without quoting it. */
export function parseJson(text: string, source: SourceName): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${source} did not answer JSON`);
  }
}
