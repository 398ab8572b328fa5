import { isCheckViolation, outbox } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { MovableClock } from "../clock.ts";
import type { SandboxChain } from "../sandbox.ts";
import type { ClockAdvance, ClockAdvanced, Reorg } from "../schema.ts";

/** Told when the merchant clock was moved: who waits for an hour of it need not wait for the next look. */
const CLOCK_ADVANCED = "sandbox.clock_advanced";

/** Moves the merchant clock of the whole deployment forward; every process goes by it when this returns. */
export async function advanceClock(
  movable: MovableClock,
  { ctx, input: { seconds } }: Call<ClockAdvance>,
): Promise<ClockAdvanced> {
  ctx.demand("merchant:manage");
  const offsetSeconds = await ctx.tx(async (tx) => {
    const offset = await movable.advance(tx, seconds).catch((error: unknown) => {
      if (!isCheckViolation(error, "sandbox_clock_offset")) throw error;
      throw fault("simulation_impossible", { why: "the clock is thirty years ahead at most" }, error);
    });
    const { merchantId } = ctx;
    const payload = { seconds, offsetSeconds: offset };
    await outbox.append(tx, [
      { id: ctx.newId("evt"), type: CLOCK_ADVANCED, subject: merchantId, merchantId, payload },
    ]);
    return offset;
  });
  await movable.everywhere();
  return { now: ctx.now().toISOString(), offsetSeconds };
}

/** Takes the newest blocks off the local chain, as long as none of them is final. Fault: `simulation_impossible`. */
export async function reorganize(
  chain: Pick<SandboxChain, "reorg">,
  { ctx, input: { depth } }: Call<Reorg>,
): Promise<Reorg> {
  ctx.demand("merchant:manage");
  if (!(await chain.reorg(depth)))
    throw fault("simulation_impossible", {
      why: "so many blocks are not there that could still leave the chain",
    });
  return { depth };
}
