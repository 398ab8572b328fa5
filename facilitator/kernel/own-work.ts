/** A time-out that comes so much too late was held up by this process itself. */
const LATE_MS = 100;
/** The part of a wait that a process was at work in, from which on it says nothing about what was waited for. */
const BUSY = 0.8;

/** Begins a wait of `ms`. At its end: whether this process was too busy to see what it waited for. In a flood of requests
 *  an answer takes several turns of the loop, of which each may last half a second, and of what a turn finds the timers are
 *  seen before the sockets. */
export function watchOwnWork(ms: number): () => boolean {
  const began = performance.now();
  const load = performance.eventLoopUtilization();
  return () =>
    performance.now() - began > ms + LATE_MS || performance.eventLoopUtilization(load).utilization > BUSY;
}
