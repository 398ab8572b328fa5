import { bearer, type Keys } from "./shot.ts";

/** Ids of the keys that the fuzz itself asks with: an answer tells them, and a shot must not revoke them. */
export async function idsOf(baseUrl: string, { secret, foreign }: Keys): Promise<ReadonlySet<string>> {
  const ids: string[] = [];
  for (const key of [secret, foreign]) {
    const [name = "", value = ""] = bearer(key);
    const response = await fetch(`${baseUrl}/v1/api-keys`, { headers: { [name]: value } });
    ids.push(...((await response.json()) as readonly { id: string }[]).map(({ id }) => id));
  }
  return new Set(ids);
}
