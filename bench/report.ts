/** The table: both servers side by side, the ratio, the aim, and whether it is met. */
import { percentile } from "./load.ts";
import type { Sample } from "./measure.ts";
import type { Name } from "./options.ts";

export interface Measured {
  readonly verify: Sample;
  readonly settle: Sample;
  readonly lone: Sample;
  /** Of the server, from its start to the end of the last round. */
  readonly peakMegabytes: number;
}

interface Row {
  readonly what: string;
  readonly of: (measured: Measured) => number;
  /** What the reference has, where that is not of the one in the table. */
  readonly theirs?: number;
  readonly digits: number;
  /** On ours divided by the reference's, or on ours alone. */
  readonly aim?: { readonly on: "ratio" | "ours"; readonly bound: "least" | "most"; readonly value: number };
}

export interface Report {
  readonly text: string;
  /** Null when one server was measured alone. */
  readonly missed: readonly string[] | null;
}

const perSecond = (sample: Sample) => sample.succeeded / sample.seconds;
const perCpuSecond = (sample: Sample) => sample.succeeded / sample.cpu.server;
const perThousand = (seconds: number, sample: Sample) => (seconds * 1000) / sample.succeeded;
const gasEach = ({ spent, succeeded }: Sample) => Number(spent.gas) / succeeded;
export const failed = ({ failures }: Pick<Sample, "failures">) =>
  [...failures.values()].reduce((sum, count) => sum + count, 0);
const none = { on: "ours", bound: "most", value: 0 } as const;

/** What the ground was like. */
interface Conditions {
  readonly blockTimeSeconds: number;
  readonly payers: number;
  readonly signers: number;
  /** Settles of the reference as it comes, without a nonce manager; null where it was not measured. */
  readonly stock: Sample | null;
}

function rows({ blockTimeSeconds, payers, signers, stock }: Conditions): readonly Row[] {
  const blocks = (ms: number) => ms / 1000 / blockTimeSeconds;
  const settleAim = { on: "ratio", bound: "least", value: signers === 4 ? 10 : 6 } as const;
  const besideStock: readonly Row[] = stock
    ? [
        {
          what: "settle, per second, reference without a nonce manager",
          of: ({ settle }) => perSecond(settle),
          theirs: perSecond(stock),
          digits: 0,
          aim: settleAim,
        },
      ]
    : [];
  return [
    {
      what: "verify, per second",
      of: ({ verify }) => perSecond(verify),
      digits: 0,
      aim: { on: "ratio", bound: "least", value: 8 },
    },
    {
      what: "verify, per CPU second of the server",
      of: ({ verify }) => perCpuSecond(verify),
      digits: 0,
      aim: { on: "ratio", bound: "least", value: 12 },
    },
    ...common("verify"),
    { what: "verify, failures", of: ({ verify }) => failed(verify), digits: 0, aim: none },
    {
      what: "settle, per second",
      of: ({ settle }) => perSecond(settle),
      digits: 0,
      aim: settleAim,
    },
    ...besideStock,
    { what: "settle, per CPU second of the server", of: ({ settle }) => perCpuSecond(settle), digits: 0 },
    ...common("settle"),
    {
      what: "settle, s from the last answer until the server rests",
      of: ({ settle }) => settle.restSeconds,
      digits: 1,
    },
    {
      what: "settle, gas each",
      of: ({ settle }) => gasEach(settle),
      digits: 0,
      aim: { on: "ratio", bound: "most", value: payers === 1 ? 0.58 : 0.62 },
    },
    { what: "settle, failures", of: ({ settle }) => failed(settle), digits: 0, aim: none },
    {
      what: "lone settle, p50 in blocks",
      of: ({ lone }) => blocks(percentile(lone.latenciesMs, 0.5)),
      digits: 2,
      aim: { on: "ours", bound: "most", value: 1.2 },
    },
    {
      what: "lone settle, slowest in blocks",
      of: ({ lone }) => blocks(percentile(lone.latenciesMs, 1)),
      digits: 2,
    },
    { what: "lone settle, gas", of: ({ lone }) => gasEach(lone), digits: 0 },
    { what: "lone settle, failures", of: ({ lone }) => failed(lone), digits: 0, aim: none },
    {
      what: "memory of the server, peak MB",
      of: ({ peakMegabytes }) => peakMegabytes,
      digits: 0,
      aim: { on: "ours", bound: "most", value: 300 },
    },
  ];
}

function common(verb: "verify" | "settle"): readonly Row[] {
  const latency = (share: number) => (measured: Measured) => percentile(measured[verb].latenciesMs, share);
  const cpu = (of: "server" | "chain" | "postgres") => (measured: Measured) =>
    perThousand(measured[verb].cpu[of], measured[verb]);
  return [
    { what: `${verb}, p50 ms`, of: latency(0.5), digits: 1 },
    { what: `${verb}, p99 ms`, of: latency(0.99), digits: 1 },
    { what: `${verb}, CPU s per 1,000: server`, of: cpu("server"), digits: 2 },
    { what: `${verb}, CPU s per 1,000: chain node`, of: cpu("chain"), digits: 2 },
    { what: `${verb}, CPU s per 1,000: PostgreSQL`, of: cpu("postgres"), digits: 2 },
  ];
}

/** Markdown. `notes` stand under the table. */
export function report(
  measured: Partial<Record<Name, Measured>>,
  { notes, ...conditions }: Conditions & { readonly notes: readonly string[] },
): Report {
  const { reference, farebox } = measured;
  const missed: string[] = [];
  const lines = ["| | reference | farebox | ratio | aim | met |", "|---|--:|--:|--:|--:|---|"];
  for (const row of rows(conditions)) {
    const theirs = row.theirs ?? (reference && row.of(reference));
    const ours = farebox && row.of(farebox);
    const ratio = theirs !== undefined && ours !== undefined ? ours / theirs : undefined;
    const met = verdict(row, ratio, ours);
    if (met === false) missed.push(row.what);
    const cells = [row.what, shown(theirs, row.digits), shown(ours, row.digits), times(ratio)];
    lines.push(`| ${[...cells, aimOf(row), met === undefined ? "" : met ? "yes" : "**no**"].join(" | ")} |`);
  }
  const isWhole = reference !== undefined && farebox !== undefined;
  const failures = Object.entries(measured).flatMap(([name, one]) => reasons(name, one));
  const text = [...lines, "", ...[...notes, ...failures].map((note) => `- ${note}`), ""].join("\n");
  return { text, missed: isWhole ? missed : null };
}

function verdict({ aim }: Row, ratio: number | undefined, ours: number | undefined): boolean | undefined {
  const value = aim?.on === "ratio" ? ratio : ours;
  if (!aim || value === undefined) return undefined;
  return aim.bound === "least" ? value >= aim.value : value <= aim.value;
}

function aimOf({ aim }: Row): string {
  if (!aim) return "";
  if (aim.value === 0) return "0";
  return `${aim.bound === "least" ? "≥" : "≤"} ${aim.value}${aim.on === "ratio" ? "×" : ""}`;
}

function shown(value: number | undefined, digits: number): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function times(ratio: number | undefined): string {
  return ratio === undefined || !Number.isFinite(ratio) ? "" : `${ratio.toFixed(2)}×`;
}

function reasons(name: string, { verify, settle, lone }: Measured): string[] {
  return Object.entries({ verify, settle, "lone settle": lone }).flatMap(([verb, { failures, spent }]) => [
    ...[...failures].map(([reason, count]) => `${name}, ${verb}: ${count} × ${reason}`),
    ...(spent.transactions > 0
      ? [`${name}, ${verb}: ${spent.transactions} transactions, ${spent.reverted} reverted`]
      : []),
  ]);
}
