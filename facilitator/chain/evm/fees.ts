import type { FeeEstimate } from "../port.ts";
import { fields, list, MalformedAnswer, quantity } from "./answer.ts";
import type { Room } from "./room.ts";

/** How many blocks the tip is taken from, and whose tip in each: the middle one. */
const BLOCKS = "0x5";
const PERCENTILE = 50;
/** Wei per gas. Pools turn away transactions without a tip; in empty blocks there is none to copy. */
const LEAST_TIP = 1_000_000n;

/** The next block's base fee, and a tip that lately was enough. */
export function estimateFees(room: Room): Promise<FeeEstimate> {
  const params = [BLOCKS, "latest", [PERCENTILE]];
  return room.rpc.request({ method: "eth_feeHistory", params, parse: estimateOf });
}

function estimateOf(value: unknown): FeeEstimate {
  const history = fields(value);
  const next = list(history.baseFeePerGas).at(-1);
  if (next === undefined) throw new MalformedAnswer("no base fee");
  const rewards = Array.isArray(history.reward) ? history.reward : [];
  const tips = rewards.map((block) => quantity(list(block)[0] ?? "0x0")).filter((tip) => tip > 0n);
  tips.sort((a, b) => (a < b ? -1 : 1));
  const middle = tips[Math.floor(tips.length / 2)] ?? 0n;
  return { baseFeePerGas: quantity(next), maxPriorityFeePerGas: middle > LEAST_TIP ? middle : LEAST_TIP };
}
