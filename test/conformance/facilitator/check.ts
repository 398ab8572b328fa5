/** What a check is, and what comes of it. */
import type { Trial } from "./trial.ts";

export type RuleId = "SR1" | "SR2" | "SR3" | "SR4" | "SR5" | "SR6" | "SR7" | "SR8" | "beyond";

export interface Rule {
  readonly id: RuleId;
  readonly says: string;
  readonly checks: readonly Check[];
}

export interface Check {
  readonly id: string;
  /** What is done, in a sentence. */
  readonly does: string;
  /** What keeps the rule, in a sentence. */
  readonly expects: string;
  /** Changes the chain in a way that cannot be undone: it comes last. */
  readonly isLast?: boolean;
  run(trial: Trial): Promise<Verdict>;
}

/** What was seen; "not applicable" where this facilitator cannot be brought into the situation. */
export type Verdict =
  | { readonly kind: "kept" }
  | { readonly kind: "violated"; readonly saw: string }
  | { readonly kind: "not applicable"; readonly why: string };

export const kept: Verdict = { kind: "kept" };
const violated = (saw: string): Verdict => ({ kind: "violated", saw });
export const notApplicable = (why: string): Verdict => ({ kind: "not applicable", why });

/** Violated when anything is said, kept otherwise. */
export function verdictOf(...faults: readonly (string | false | null)[]): Verdict {
  const saw = faults.filter((fault) => typeof fault === "string");
  return saw.length === 0 ? kept : violated(saw.join("; "));
}

export interface Finding {
  readonly rule: RuleId;
  readonly check: Check;
  readonly verdict: Verdict;
}

/** Runs all checks one after the other, since each looks at what the facilitator's accounts send meanwhile. */
export async function runChecks(
  trial: Trial,
  rules: readonly Rule[],
  heard: (finding: Finding) => void = () => {},
): Promise<readonly Finding[]> {
  const all = rules.flatMap(({ id, checks }) => checks.map((check) => ({ rule: id, check })));
  const inOrder = [...all.filter(({ check }) => !check.isLast), ...all.filter(({ check }) => check.isLast)];
  const findings: Finding[] = [];
  for (const { rule, check } of inOrder) {
    const verdict = await check.run(trial).catch((error: unknown) => violated(`no answer: ${String(error)}`));
    const finding = { rule, check, verdict };
    heard(finding);
    findings.push(finding);
  }
  return findings;
}
