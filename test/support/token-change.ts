/** An issuer puts another contract behind a token while it is served, and the service looks when the test says so. */
import type { Clock } from "#kernel/clock";
import type { Chain, TokenFacts } from "../../facilitator/chain/port.ts";
import { gate } from "./gate.ts";
import { until } from "./house.ts";

/** Nothing but the looks at tokens waits for so long, or longer. */
const LONG_MS = 600_000;
const otherCode: Pick<TokenFacts, "codeHash"> = { codeHash: `0x${"1".repeat(64)}` as TokenFacts["codeHash"] };

/** `clock` and `wrapChain` are for the world that looks. */
export function tokenChange(base: Clock) {
  let isChanged: (token: string) => boolean = () => false;
  let nextLook = gate();
  const look = () => {
    const thisOne = nextLook;
    nextLook = gate();
    thisOne.open();
  };
  const clock: Clock = {
    ...base,
    sleep: (ms, signal) =>
      Promise.race([base.sleep(ms, signal), ...(ms >= LONG_MS ? [nextLook.passed] : [])]),
  };
  const wrapChain = (chain: Chain): Chain => ({
    ...chain,
    tokenFacts: async (token) => ({
      ...(await chain.tokenFacts(token)),
      ...(isChanged(token) ? otherCode : {}),
    }),
  });
  return {
    clock,
    wrapChain,
    /** From now on these tokens are changed, and no others; resolves when `isSeen`. A look may be under way that began
     *  before: then there is one more. */
    async change(which: typeof isChanged, isSeen: () => boolean | Promise<boolean>): Promise<void> {
      isChanged = which;
      await until(async () => {
        look();
        return isSeen();
      }, "the change is seen");
    },
  };
}
