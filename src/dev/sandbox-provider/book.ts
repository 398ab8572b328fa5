/** What the sandbox provider knows: money asked for, money that came, refunds. Pure but for the file it is kept in. */
import { readFile } from "node:fs/promises";
import { writeAtomic } from "../atomic-file.ts";

export type ClearingState =
  | "awaiting-funds"
  | "funds-detected"
  | "funds-received"
  | "settling"
  | "settled"
  | "failed"
  | "closed";

/** A payment as the provider sees it. Amounts are whole smallest units as decimal text. */
export interface ProviderClearing {
  readonly id: `sbx_${string}`;
  /** The customer's own name of it; asked for twice, made once. */
  readonly reference: string;
  readonly asset: string;
  readonly amount: string;
  readonly received: string;
  readonly state: ClearingState;
  readonly failure: string | null;
  /** What the customer wants to see happen. */
  readonly outcome: Outcome;
}
export interface ProviderRefund {
  readonly id: `sbr_${string}`;
  readonly reference: string;
  readonly clearing: ProviderClearing["id"];
  readonly amount: string;
  readonly state: "pending" | "succeeded";
}
export const outcomes = ["by-command", "paid", "declined", "not-settled"] as const;
/** `by-command`: somebody must pay it; `paid`: it is paid by itself; `declined`: so it is, and the money is refused;
 *  `not-settled`: the money comes and its first settlement fails. */
export type Outcome = (typeof outcomes)[number];

/** What happens next by itself, or null when nothing does. */
export function next(clearing: ProviderClearing): ProviderClearing | null {
  const { state, outcome } = clearing;
  switch (state) {
    case "awaiting-funds":
      return outcome === "paid" || outcome === "declined" ? paid(clearing) : null;
    case "funds-detected":
      if (outcome === "declined") return { ...clearing, received: "0", state: "failed", failure: "declined" };
      return { ...clearing, state: "funds-received" };
    case "settling":
      if (outcome === "not-settled")
        return { ...clearing, state: "failed", failure: "settlement refused", outcome: "by-command" };
      return { ...clearing, state: "settled" };
    default:
      return null;
  }
}

/** Whether a settlement can be begun: also once more, after one that failed. */
export function isSettleable({ state, received }: ProviderClearing): boolean {
  return state === "funds-received" || (state === "failed" && received !== "0");
}

/** The payer's money, which is exactly what was asked for. */
export function paid(clearing: ProviderClearing): ProviderClearing {
  return { ...clearing, received: clearing.amount, state: "funds-detected" };
}

/** All of it, as kept in the file. */
export interface Book {
  readonly clearings: Map<string, ProviderClearing>;
  readonly refunds: Map<string, ProviderRefund>;
  /** Resolves when what is in the maps now is in the file. */
  save(): Promise<void>;
}

export async function openBook(path: string): Promise<Book> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return '{"clearings":[],"refunds":[]}';
    throw error;
  });
  const kept = JSON.parse(text) as { clearings: ProviderClearing[]; refunds: ProviderRefund[] };
  const clearings = new Map(kept.clearings.map((each) => [each.id, each]));
  const refunds = new Map(kept.refunds.map((each) => [each.id, each]));
  let saving = Promise.resolve();
  const write = () =>
    writeAtomic(
      path,
      JSON.stringify({ clearings: [...clearings.values()], refunds: [...refunds.values()] }),
      0o600,
    );
  return {
    clearings,
    refunds,
    save() {
      saving = saving.then(write, write); // one after the other: the last write holds the newest state
      return saving;
    },
  };
}
