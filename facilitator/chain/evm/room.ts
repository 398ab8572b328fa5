import type { Log } from "#kernel/log";
import type { BlockRef } from "../port.ts";
import type { ChainRow } from "../registry.ts";
import type { RpcClient } from "./client.ts";

/** What the readers of one chain share. */
export interface Room {
  readonly row: ChainRow;
  readonly rpc: RpcClient;
  readonly log: Log;
  /** Told when endpoints contradict each other: for metrics. */
  readonly onDisagreement?: (() => void) | undefined;
  /** The newest head seen, if any. Good enough to price a simulation and to word a revert, never for a decision. */
  seen: BlockRef | null;
}
