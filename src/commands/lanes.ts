import type { Command } from "commander";
import type { LaneRef } from "#facilitator";
import { checksum, parseAddress } from "#kernel/bytes";
import { ConfigProblem } from "../config.ts";
import { withHouse } from "./house.ts";
import { say } from "./output.ts";

/** `farebox lanes …`: gas keys, each on one chain. */
export function addLanesCommands(program: Command): void {
  const lanes = program.command("lanes").description("gas keys, each on one chain");
  lanes
    .command("list")
    .description(
      "list them: chain, address, active, quarantined or removed from FAREBOX_SIGNER_KEYS, held by a process or free, transactions that are not final, wei or -; exit 1 when a configured one is quarantined",
    )
    .action(list);
  lanes
    .command("quarantine <chain> <address>")
    .description("have one sign nothing more; what it sent is looked after")
    .action((chain: string, address: string) => quarantine(laneRef(chain, address)));
  lanes
    .command("resume <chain> <address>")
    .description(
      "have one sign again, behind every nonce that is used on the chain; not while somebody else may have its key",
    )
    .action((chain: string, address: string) => resume(laneRef(chain, address)));
}

function list(): Promise<void> {
  return withHouse(async ({ sources }) => {
    const { chains } = await sources.health();
    const lanes = chains.flatMap(({ chain, lanes }) => lanes.map((lane) => ({ chain, ...lane })));
    for (const { chain, address, state, isConfigured, held, openSlots, gasWei } of lanes) {
      const word = isConfigured ? state : "removed";
      say([chain, address, word, held ? "held" : "free", openSlots, gasWei ?? "-"].join("  "));
    }
    process.exitCode = lanes.some(({ state, isConfigured }) => isConfigured && state !== "active") ? 1 : 0;
  });
}

function quarantine(lane: LaneRef): Promise<void> {
  return withHouse(async ({ operate }) => {
    if (!(await operate.quarantineLane(lane))) throw unknownLane(lane);
    say(`${named(lane)} signs nothing more`);
  });
}

function resume(lane: LaneRef): Promise<void> {
  return withHouse(async ({ operate }) => {
    const resumed = await operate.resumeLane(lane);
    if (!resumed) throw unknownLane(lane);
    say(`${named(lane)} signs again, from nonce ${resumed.nonce} on`);
  });
}

function laneRef(chain: string, text: string): LaneRef {
  const address = parseAddress(text);
  if (!address) throw new ConfigProblem(`${text} is no address. See farebox lanes list.`);
  return { chain, address };
}

const named = ({ chain, address }: LaneRef) => `${checksum(address)} on ${chain}`;
const unknownLane = (lane: LaneRef) =>
  new ConfigProblem(`There is no lane ${named(lane)}. See farebox lanes list.`);
