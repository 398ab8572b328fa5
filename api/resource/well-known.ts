import type { SafeFetch } from "../http/safe-fetch.ts";

const PATH = "/.well-known/x402";
const KEYS = ["merchantId", "merchantIds"] as const;

/** Whether the host of a URL names this merchant as its own: its `/.well-known/x402` is a JSON object with the id under
 *  `merchantId`, or in the list `merchantIds`. Null when that could not be found out now. */
export async function hostNames(
  fetch: SafeFetch,
  url: string,
  merchantId: string,
  stopping?: AbortSignal,
): Promise<boolean | null> {
  return (await merchantsNamedBy(fetch, url, stopping))?.includes(merchantId) ?? null;
}

/** What the host of a URL has there; null when that could not be found out now. */
export async function merchantsNamedBy(
  fetch: SafeFetch,
  url: string,
  stopping?: AbortSignal,
): Promise<readonly unknown[] | null> {
  const answer = await fetch(new URL(PATH, url).href, {
    headers: { accept: "application/json" },
    ...(stopping ? { signal: stopping } : {}),
  });
  if (!answer.ok || answer.status >= 500 || answer.status === 429) return null;
  if (answer.status !== 200) return [];
  // Unlike a buffer's own reading, this one drops the byte order mark that some editors write.
  const document = parsed(new TextDecoder().decode(answer.body));
  return KEYS.flatMap((key) => document[key]);
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
