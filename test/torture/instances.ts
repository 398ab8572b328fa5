/** The service's processes and their supervisor: whichever ends is started again at once. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Checkpoint } from "#facilitator";
import type { DevChain } from "../support/dev-chain.ts";
import type { OwnPostgres } from "../support/own-postgres.ts";
import { type ProcessOptions, type ServiceProcess, type StandingBy, standBy } from "../support/processes.ts";

export interface Instances {
  /** Of those that are up. */
  baseUrls(): readonly string[];
  /** Kills one of them, at once or when it gets to a step; one that does not get there soon is killed all the same.
   *  Tells what it died of. */
  kill(step: Checkpoint | null): Promise<Checkpoint | "anywhere">;
  /** How many ended without being killed. */
  deserters(): number;
  stop(): Promise<void>;
}

interface Place {
  service: ServiceProcess | null;
  next: Promise<StandingBy>;
  isCondemned: boolean;
}

/** How long a process may take to get to the step at which it shall die. */
const STEP_WITHIN_MS = 2_500;
const AGAIN_MS = 300;

export async function startInstances(
  count: number,
  dev: DevChain,
  database: OwnPostgres,
  options: ProcessOptions,
): Promise<Instances> {
  const waiting = () => standBy(dev, database, options);
  const places: Place[] = [];
  let isStopping = false;
  let deserted = 0;

  /** Starts until it succeeds: a database that is away just now is no reason to give up. */
  async function start(place: Place): Promise<void> {
    while (!isStopping) {
      const ready = await place.next;
      place.next = waiting();
      const service = await ready.start().catch(() => null);
      if (!service) {
        await ready.stop();
        await sleep(AGAIN_MS);
        continue;
      }
      place.service = service;
      place.isCondemned = false;
      void service.ended.then(() => ended(place));
      return;
    }
  }

  function ended(place: Place): void {
    place.service = null;
    if (isStopping) return;
    if (!place.isCondemned) deserted += 1;
    void start(place);
  }

  async function die(place: Place, service: ServiceProcess, step: Checkpoint | null) {
    place.isCondemned = true;
    if (step !== null) await service.killAt(step).catch(() => undefined);
    const isStruck =
      step !== null && (await Promise.race([service.ended.then(() => true), sleep(STEP_WITHIN_MS, false)]));
    await service.stop();
    return isStruck ? step : "anywhere";
  }

  for (let i = 0; i < count; i += 1) {
    const place: Place = { service: null, next: waiting(), isCondemned: false };
    places.push(place);
    await start(place);
  }
  return {
    baseUrls: () => places.flatMap(({ service }) => (service ? [service.baseUrl] : [])),
    deserters: () => deserted,
    async kill(step) {
      for (;;) {
        const up = places.filter(({ service, isCondemned }) => service !== null && !isCondemned);
        const place = up[Math.floor(Math.random() * up.length)];
        if (place?.service) return die(place, place.service, step);
        await sleep(50);
      }
    },
    async stop() {
      isStopping = true;
      await Promise.all(
        places.map(async ({ service, next }) => {
          await service?.stop();
          await (await next).stop();
        }),
      );
    },
  };
}
