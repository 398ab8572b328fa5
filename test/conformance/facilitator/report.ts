/** Findings as a table, one column for each facilitator, and every violated check with what was seen. */
import type { Finding, Rule } from "./check.ts";

export interface Judged {
  readonly name: string;
  readonly findings: readonly Finding[];
}

export function report(judged: readonly Judged[], rules: readonly Rule[]): string {
  const head = ["rule", ...judged.map(({ name }) => `${name}: kept / violated / not applicable`)];
  const rows = rules.map(({ id, says }) => [
    `${id}: ${says}`,
    ...judged.map(({ findings }) => tally(findings.filter(({ rule }) => rule === id))),
  ]);
  const all = ["all", ...judged.map(({ findings }) => tally(findings))];
  return [table([head, ...rows, all]), ...judged.map(details)].join("\n\n");
}

export function violations({ findings }: Judged): readonly Finding[] {
  return findings.filter(({ verdict }) => verdict.kind === "violated");
}

function tally(findings: readonly Finding[]): string {
  const count = (kind: Finding["verdict"]["kind"]) =>
    findings.filter(({ verdict }) => verdict.kind === kind).length;
  return `${count("kept")} / ${count("violated")} / ${count("not applicable")}`;
}

function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `| ${cells.join(" | ")} |`);
  const [head = "", ...rest] = lines;
  return [head, `|${rows[0]?.map(() => "---|").join("")}`, ...rest].join("\n");
}

function details(judged: Judged): string {
  const lines = judged.findings.flatMap(({ check, verdict }) => {
    if (verdict.kind === "kept") return [];
    const saw = verdict.kind === "violated" ? verdict.saw : `not applicable: ${verdict.why}`;
    return [`- ${check.id}: ${check.does}. Expected: ${check.expects}. Seen: ${saw}`];
  });
  return [`${judged.name}:`, ...(lines.length > 0 ? lines : ["- no violation"])].join("\n");
}
