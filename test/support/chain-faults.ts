/** A chain that can be made to fail: stands between the engine and the real one, method by method. */
import { onTestFinished } from "vitest";
import type { Chain } from "../../facilitator/chain/port.ts";
import { gate } from "./gate.ts";

type Method = Exclude<keyof Chain, "row">;
/** What stands in for one method while it is set; it is given the real chain. */
export type Faults = { readonly [M in Method]?: (real: Chain) => Chain[M] };

export interface ChainFaults {
  /** For `HouseOptions.wrapChain`. One set of faults serves every house that is given it. */
  readonly wrap: (real: Chain) => Chain;
  /** From now on, until it is set otherwise. */
  set(faults: Faults): void;
  clear(): void;
  /** Those that are set. */
  now(): Faults;
}

export function chainFaults(): ChainFaults {
  let now: Faults = {};
  return {
    wrap: (real) =>
      new Proxy(real, {
        get(target, name: keyof Chain) {
          const fault = name === "row" ? undefined : now[name];
          return fault ? fault(real) : target[name];
        },
      }),
    set(faults) {
      now = faults;
    },
    clear() {
      now = {};
    },
    now: () => now,
  };
}

/** `work` happens once, when authorizations are read next and before they are: what was found good is not so any more. */
export function beforeRead(faults: ChainFaults, work: () => Promise<unknown>): void {
  let isDone = false;
  faults.set({
    readAuthorizations:
      (real) =>
      async (...asked) => {
        if (!isDone) {
          isDone = true;
          await work();
        }
        return real.readAuthorizations(...asked);
      },
  });
}

/** Lets the dispatcher take claims, and stops it before it looks at them again. */
export function holdDispatch(faults: ChainFaults) {
  const held = gate();
  const reached = gate();
  onTestFinished(held.open);
  faults.set({
    fees: (real) => async () => {
      reached.open();
      await held.passed;
      return real.fees();
    },
  });
  return { reached: reached.passed, letGo: held.open };
}
