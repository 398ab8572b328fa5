import type { FeeEstimate } from "../port.ts";
import { fields, list, MalformedAnswer, quantity } from "./answer.ts";
import type { Room } from "./room.ts";

/** How many blocks the tip is taken from. */
const BLOCKS = "0x5";
/** Whose tip is taken from a block, in percent of its gas from the cheapest on: where there was room for more, one of the
 *  cheapest was enough, however much others gave; from a full one, the middle. */
const WITH_ROOM = 10;
const FULL = 50;
/** The part of a block's gas from which on it counts as full. */
const FULL_SHARE = 0.9;
/** Wei per gas. Pools turn away transactions without a tip; in empty blocks there is none to copy. */
const LEAST_TIP = 1_000_000n;

/** The next block's base fee, and a tip that lately was enough. */
export function estimateFees(room: Room): Promise<FeeEstimate> {
  const params = [BLOCKS, "latest", [WITH_ROOM, FULL]];
  return room.rpc.request({ method: "eth_feeHistory", params, parse: estimateOf });
}

function estimateOf(value: unknown): FeeEstimate {
  const history = fields(value);
  const next = list(history.baseFeePerGas).at(-1);
  if (next === undefined) throw new MalformedAnswer("no base fee");
  const rewards = Array.isArray(history.reward) ? history.reward : [];
  const shares = Array.isArray(history.gasUsedRatio) ? history.gasUsedRatio : [];
  const isFull = (i: number) => Number(shares[i]) >= FULL_SHARE;
  const tips = rewards
    .map((block, i) => quantity(list(block)[isFull(i) ? 1 : 0] ?? "0x0"))
    .filter((tip) => tip > 0n);
  tips.sort((a, b) => (a < b ? -1 : 1));
  const middle = tips[Math.floor(tips.length / 2)] ?? 0n;
  return {
    baseFeePerGas: quantity(next),
    maxPriorityFeePerGas: middle > LEAST_TIP ? middle : LEAST_TIP,
    hasRoom: !shares.some((_, i) => isFull(i)),
  };
}
