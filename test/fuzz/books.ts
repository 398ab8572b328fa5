/** Whether the books of a deployment equal its chain, as its operator asks. */
import { setTimeout as sleep } from "node:timers/promises";

/** Runs a command of the operator; its standard output. */
type Cli = (...args: readonly string[]) => Promise<string>;

interface Compared {
  readonly areEqual: boolean;
  readonly text: string;
}

const laterMs = 10_000;

/** Compared once, and where they differ a second time: to be mended, it matters whether a difference stays. */
export async function compareBooks(cli: Cli): Promise<Compared> {
  const at = await reconcile(cli);
  if (at.areEqual) return at;
  await sleep(laterMs);
  const later = await reconcile(cli);
  return { areEqual: false, text: `${at.text}\n${laterMs / 1_000} s later:\n${later.text}` };
}

function reconcile(cli: Cli): Promise<Compared> {
  return cli("reconcile").then(
    (text) => ({ areEqual: true, text: text.trimEnd() }),
    (error: { stdout?: string; message: string }) => ({
      areEqual: false,
      text: (error.stdout || error.message).trimEnd(),
    }),
  );
}
