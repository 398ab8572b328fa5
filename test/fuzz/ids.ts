import { setTimeout as sleep } from "node:timers/promises";
import { bearer, type Keys } from "./shot.ts";

/** Ids of the keys that the fuzz itself asks with: an answer tells them, and a shot must not revoke them. */
export async function idsOf(baseUrl: string, { secret, foreign }: Keys): Promise<ReadonlySet<string>> {
  const ids: string[] = [];
  for (const key of [secret, foreign]) ids.push(...(await keyIds(baseUrl, key)));
  return new Set(ids);
}

/** Asks again where a busy machine has no answer yet. */
async function keyIds(baseUrl: string, key: string): Promise<readonly string[]> {
  const [name = "", value = ""] = bearer(key);
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(`${baseUrl}/v1/api-keys`, { headers: { [name]: value } });
    const told = await response.text();
    if (response.ok) return (JSON.parse(told) as readonly { id: string }[]).map(({ id }) => id);
    if (tries === 20) throw new Error(`the keys cannot be listed: ${response.status} ${told}`);
    await sleep(500);
  }
}

const idPattern = /"id":"(([a-z0-9]+)_[0-9A-Z]{26})"/g;
const placePattern = /\{([a-z0-9]+):(\d+)\}/g;
const keptOfAKind = 200;

/** Ids that answers told, the latest of each kind, for the requests that come after. */
export class KnownIds {
  readonly #byPrefix = new Map<string, string[]>();
  readonly #spared: ReadonlySet<string>;

  constructor(spared: ReadonlySet<string>) {
    this.#spared = spared;
  }

  learn(text: string): void {
    for (const [, id = "", prefix = ""] of text.matchAll(idPattern)) {
      if (!this.#spared.has(id)) for (const kind of [prefix, "any"]) this.#keep(kind, id);
    }
  }

  #keep(kind: string, id: string): void {
    const known = this.#byPrefix.get(kind) ?? [];
    this.#byPrefix.set(kind, known);
    if (known.push(id) > keptOfAKind) known.shift();
  }

  /** Puts an id in place of each `{pi:7}`; `none` where none of the kind is known. */
  fill(text: string): string {
    return text.replace(placePattern, (_, prefix: string, n: string) => {
      const known = this.#byPrefix.get(prefix) ?? [];
      return known[Number(n) % Math.max(known.length, 1)] ?? "none";
    });
  }
}
