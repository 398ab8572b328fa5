import type { Check, Rule } from "../check.ts";
import { notApplicable } from "../check.ts";
import { consistent, refused, settled } from "../expect.ts";
import type { Trial } from "../trial.ts";

type Window = { readonly validAfter?: bigint; readonly validBefore?: bigint };

/** Tried while no block comes, so that the chain's time stands still. */
function frozen(check: Check): Check {
  return { ...check, run: (trial) => trial.chain.held(() => check.run(trial)) };
}

const outside = (name: string, does: string, window: (now: bigint) => Window): Check =>
  frozen({
    id: `SR3.${name}`,
    does: `an authorization ${does}`,
    ...refused(async (trial) => trial.payment(window(await trial.chain.time()))),
  });

const inside = (name: string, does: string, window: (now: bigint) => Window): Check => ({
  id: `SR3.${name}`,
  does: `an authorization ${does}`,
  ...settled(async (trial) => trial.payment(window(await trial.chain.time()))),
});

/** The chain's clock ten minutes ahead of everybody's own. */
const ahead = refused(async (trial: Trial) => {
  await trial.chain.ahead(600);
  return trial.payment({ validBefore: (await trial.chain.time()) - 60n });
});

export const sr3: Rule = {
  id: "SR3",
  says: "the authorization is in force when it is used",
  checks: [
    outside("never", "that never was in force", () => ({ validBefore: 0n })),
    outside("expired", "that expired a second ago", (now) => ({ validBefore: now - 1n })),
    outside("expires", "that expires at the chain's very time", (now) => ({ validBefore: now })),
    outside("expiring", "that expires in a second", (now) => ({ validBefore: now + 1n })),
    outside("early", "that begins in a minute", (now) => ({ validAfter: now + 60n })),
    outside("inverted", "that ends before it begins", (now) => ({
      validAfter: now + 600n,
      validBefore: now + 300n,
    })),
    {
      id: "SR3.begins",
      does: "an authorization that begins at the chain's very time, which the token refuses until the next second",
      ...consistent(async (trial) => trial.payment({ validAfter: await trial.chain.time() })),
    },
    inside("began", "that began two seconds ago", (now) => ({ validAfter: now - 2n })),
    inside("long", "that lasts an hour more", (now) => ({ validBefore: now + 3_600n })),
    {
      id: "SR3.chain-time",
      does: "an authorization that is in force by the clock on the wall and expired by the chain's, ten minutes ahead",
      expects: ahead.expects,
      isLast: true,
      run: (trial) =>
        trial.canMoveClock
          ? ahead.run(trial)
          : Promise.resolve(notApplicable("--move-clock is not set, and a chain's clock cannot be set back")),
    },
  ],
};
