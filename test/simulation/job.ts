/** What a worker is told, where nothing else is asked for: one seed, the first. */
import type { Job } from "./worker.ts";

export function job(part: Pick<Job, "server"> & Partial<Job>): Job {
  return {
    first: [],
    from: 1,
    stride: 1,
    seeds: 1,
    pauseMs: 0,
    mutant: null,
    deviations: 0,
    only: null,
    ...part,
  };
}
