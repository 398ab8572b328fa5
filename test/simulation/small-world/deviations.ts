/** What may be out of the ordinary in a small world, at each of its steps. What is left out is said where it is. */
import type { Manner } from "../actors/payments.ts";
import type { FaultKind } from "../parts/faults.ts";
import { FINAL_AFTER } from "../parts/node.ts";
import type { Call } from "../parts/scheduler.ts";
import type { Life } from "../seed.ts";
import type { Course } from "./course.ts";

/** What payers and strangers do on the chain. */
const meddlings = [
  "front-run",
  "cancel",
  "drain",
  "pay-less",
  "pay-another",
  "gain-code",
  "submit-ours",
] as const;
export type Meddling = (typeof meddlings)[number];

/** What may come instead of what is next. */
export type Deviation =
  /** A call that came later is answered first. */
  | { readonly kind: "turn"; readonly call: number }
  /** The process whose call is next dies. */
  | { readonly kind: "kill" }
  /** It stands still, until its leases have lapsed and others have gone on without it. */
  | { readonly kind: "stall" }
  /** Its clock is wrong from here on. */
  | { readonly kind: "skew"; readonly process: number; readonly ms: number }
  /** Another branch wins, with what was in the blocks that leave or without. */
  | { readonly kind: "reorg"; readonly depth: number; readonly loses: boolean }
  /** A block comes now, in which somebody was faster than we are; it stays, or leaves a block later with what they did. */
  | { readonly kind: "block"; readonly by: Meddling; readonly payment: number; readonly leaves: boolean }
  /** What the next call asks for is answered wrong, and all like it until so many blocks came. */
  | { readonly kind: "fault"; readonly fault: FaultKind; readonly blocks: number }
  /** The next bytes are refused by an endpoint that passed them on. */
  | { readonly kind: "refused-and-sent" }
  /** The endpoint that is asked stays so far behind, or follows a branch that loses. */
  | { readonly kind: "lag"; readonly behind: number; readonly blocks: number }
  | { readonly kind: "branch" }
  /** A payment is shown once more, at a process. */
  | {
      readonly kind: "ask";
      readonly to: "settle" | "verify";
      readonly manner: Manner;
      readonly payment: number;
      readonly process: number;
    }
  /** One of those who wait for an answer goes away. */
  | { readonly kind: "hang-up"; readonly caller: number };

/** A deviation, and at which step. */
export type Departure = Deviation & { readonly step: number };

/** All that may come now. `begun` is the block behind which the payments came. */
export function deviations(life: Life, course: Course, begun: number): readonly Deviation[] {
  const next = course.next();
  if (next.is === "call") return atCall(life, next.call, begun);
  if (next.is === "begin") return [...asks(life), ...blocksBy(life)];
  return next.is === "block" ? atBlock(life) : [];
}

/** A process dies between two of its calls; which two others it dies between is of no matter. It stands still ahead of a
 *  transaction: in the middle of one it holds rows that others wait for, and is as one that waits for the database. What
 *  waits for a block nobody sees, and what an endpoint answers only who asks it: so payers, strangers, blocks, branches and
 *  views come where a question to the chain is next. So do callers: at another statement they would wait behind other calls
 *  of the same round, which is what a turn changes. */
function atCall(life: Life, next: Call, begun: number): readonly Deviation[] {
  const { scheduler, tree } = life.ground;
  const turns = scheduler
    .ready()
    .slice(1)
    .map((_, i) => ({ kind: "turn" as const, call: i + 1 }));
  const always: readonly Deviation[] = [...turns, { kind: "kill" }, ...faultsOf(next)];
  if (scheduler.exclusive !== null) return always;
  const free: readonly Deviation[] = [...always, { kind: "stall" }];
  if (next.asks === "database") return free;
  // One that loses has to lose for good before the chain itself changes.
  const isOne = life.processes.every(({ view }) => !view.side);
  const blocks = isOne ? Math.min(tree.tip.ref.number - begun, FINAL_AFTER - 1) : 0;
  return [...free, ...asks(life), ...hangUps(life), ...views(), ...reorgs(blocks), ...blocksBy(life)];
}

/** Clocks are read by loops, which all sleep when a block comes. Whoever meddles comes ahead of us in its block: behind us
 *  there is nothing left for him to do. */
function atBlock(life: Life): readonly Deviation[] {
  return [
    { kind: "fault", fault: "late-inclusion", blocks: 4 },
    { kind: "fault", fault: "answer-not-delivered", blocks: 2 },
    ...asks(life),
    ...hangUps(life),
    ...life.processes.flatMap((_, process) =>
      [-HOUR_MS, HOUR_MS].map((ms) => ({ kind: "skew" as const, process, ms })),
    ),
    ...blocksBy(life).flatMap((each) => [each, { ...each, leaves: true }]),
  ];
}

const HOUR_MS = 3_600_000;

/** Each where it has an occasion: what fails at a statement in a transaction has done nothing, as at its commit. */
const occasions: readonly (readonly [RegExp, readonly FaultKind[]])[] = [
  [/^ {2}COMMIT/, ["commit-lost", "commit-unknown"]],
  [/^send /, ["send-timeout-before", "send-timeout-after", "send-refused", "send-swallowed"]],
  [/^receipt /, ["null-receipt", "false-receipt"]],
  [/^logs /, ["unknown-block"]],
  [/^fees/, ["fee-spike"]],
];

function faultsOf({ asks, label, within }: Call): readonly Deviation[] {
  const kinds = occasions.flatMap(([at, its]) => (at.test(label) ? its : []));
  const rest: readonly FaultKind[] =
    asks === "chain" && !label.startsWith("send ")
      ? ["read-timeout"]
      : within === null
        ? ["answer-lost", "statement-refused"]
        : [];
  const lasting = (asks === "chain" ? [0, 1] : [0]).flatMap((blocks) =>
    [...kinds, ...rest].map((fault) => ({ kind: "fault" as const, fault, blocks })),
  );
  return label.startsWith("send ") ? [...lasting, { kind: "refused-and-sent" }] : lasting;
}

function views(): readonly Deviation[] {
  return [
    ...[1, 2].flatMap((behind) => [0, 1].map((blocks) => ({ kind: "lag" as const, behind, blocks }))),
    { kind: "branch" },
  ];
}

function reorgs(deepest: number): readonly Deviation[] {
  const depths = Array.from({ length: deepest }, (_, i) => i + 1);
  return depths.flatMap((depth) => [true, false].map((loses) => ({ kind: "reorg" as const, depth, loses })));
}

function blocksBy({ callers: { payments } }: Life): readonly Extract<Deviation, { kind: "block" }>[] {
  return meddlings.flatMap((by) =>
    // Bytes of ours are everybody's.
    (by === "submit-ours" ? payments.slice(0, 1) : payments).map((_, payment) => ({
      kind: "block" as const,
      by,
      payment,
      leaves: false,
    })),
  );
}

function hangUps({ callers: { waiting } }: Life): readonly Deviation[] {
  return waiting.map((_, caller) => ({ kind: "hang-up" as const, caller }));
}

type Ask = Omit<Extract<Deviation, { kind: "ask" }>, "kind">;

/** The first payment, which has an id, is shown in every way where it was not asked for, and as it was where it was. The
 *  other one, which has none and buys what is sold once, where it was not. */
const shown: readonly Ask[] = [
  ...(["plain", "with-id", "other-id", "forged", "other-form", "other-payable"] as const).map((manner) => ({
    to: "settle" as const,
    manner,
    payment: 0,
    process: 1,
  })),
  { to: "verify", manner: "plain", payment: 0, process: 1 },
  { to: "verify", manner: "forged", payment: 0, process: 1 },
  { to: "settle", manner: "plain", payment: 0, process: 0 },
  { to: "settle", manner: "with-id", payment: 0, process: 0 },
  { to: "settle", manner: "plain", payment: 1, process: 0 },
  { to: "settle", manner: "forged", payment: 1, process: 0 },
  { to: "settle", manner: "other-payable", payment: 1, process: 0 },
];

function asks({ processes }: Life): readonly Deviation[] {
  return shown
    .filter(({ process }) => process < processes.length)
    .map((each) => ({ kind: "ask" as const, ...each }));
}
