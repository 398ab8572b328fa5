/** Time as a port: the settlement engine also runs under a simulated clock. */
export interface Clock {
  /** Wall time. For timestamps only; money decisions use the block's or the database's time. */
  now(): Date;
  /** Milliseconds that never go back. For waits and time-outs. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Randomness as a port, for the same reason. */
export interface Random {
  bytes(length: number): Uint8Array;
}
