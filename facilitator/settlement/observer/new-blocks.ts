/** Blocks that a chain has beyond those that were followed, each with the logs of our money. */
import type { Address } from "#kernel/bytes";
import type { BlockRef, Chain, MoneyLog } from "../../chain/port.ts";
import type { WatchList } from "../deposit/watch.ts";

/** Most blocks followed in one turn; the rest waits for the next, so that crediting keeps pace. */
const BLOCKS_PER_TURN = 50;
/** One after the other, blocks of an endpoint that is far away take longer than a chain that makes four a second. */
const BLOCKS_AT_ONCE = 8;

/** Whose money is looked for in a block, beside the treasury's, and in which tokens. */
export interface Sought {
  readonly watched: WatchList;
  readonly tokens: readonly Address[];
}

export interface NewBlock {
  readonly block: BlockRef;
  readonly logs: readonly MoneyLog[];
}

/** Those of one turn, in order, up to where the endpoint does not know what it told us of: a lagging or forked view. They
 *  are asked for in groups, each twice as large as the one before: an endpoint that limits us is not met with many at once. */
export async function* newBlocks(
  chain: Chain,
  { after, head }: { readonly after: number; readonly head: BlockRef },
  sought: Sought,
): AsyncGenerator<NewBlock, void> {
  const last = Math.min(head.number, after + BLOCKS_PER_TURN);
  let first = after + 1;
  for (let atOnce = 1; first <= last; atOnce = Math.min(2 * atOnce, BLOCKS_AT_ONCE)) {
    const numbers = Array.from({ length: Math.min(atOnce, last - first + 1) }, (_, i) => first + i);
    const blocks = await Promise.all(
      numbers.map((number) => (number === head.number ? head : chain.blockAt(number))),
    );
    const logs = await logsOf(chain, blocks, sought);
    for (const [i, block] of blocks.entries()) {
      const its = logs[i];
      if (!block || !its) return;
      yield { block, logs: its };
    }
    first += numbers.length;
  }
}

/** Asked for while the watched addresses are looked at, and once more where there were new ones. */
async function logsOf(
  chain: Chain,
  blocks: readonly (BlockRef | null)[],
  { watched, tokens }: Sought,
): Promise<readonly (readonly MoneyLog[] | null)[]> {
  const known = watched.addresses();
  const ask = () => {
    const ours = [chain.row.treasury, ...watched.addresses()];
    return Promise.all(blocks.map((block) => block && chain.moneyLogs(block, ours, tokens)));
  };
  const [logs] = await Promise.all([ask(), watched.refresh()]);
  return watched.addresses() === known ? logs : ask();
}
