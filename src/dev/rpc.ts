/** Plain JSON-RPC to the local node, for what its clients have no words for. */

let lastId = 0;

/** The node's own word that it does not do what it was asked. */
export class RpcRefusal extends Error {}

/** One call. The answer's type is the caller's knowledge of the method. Throws `RpcRefusal` on an error answer, and
 *  something else where none comes within `timeoutMs`. */
export async function rpc<T>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs = 5000,
): Promise<T> {
  lastId += 1;
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const body = (await answer.json()) as { result?: T; error?: { message: string } };
  if (body.error) throw new RpcRefusal(`${method}: ${body.error.message}`);
  return body.result as T; // null is an answer, too: "no such block"
}

export interface Block {
  readonly number: number;
  readonly hash: string;
}

/** The block at `tag`; undefined when the chain has none there. */
export async function blockAt(url: string, tag: number | "latest"): Promise<Block | undefined> {
  const at = tag === "latest" ? tag : `0x${tag.toString(16)}`;
  const block = await rpc<{ number: string; hash: string } | null>(url, "eth_getBlockByNumber", [at, false]);
  return block ? { number: Number(block.number), hash: block.hash } : undefined;
}
