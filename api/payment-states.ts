import { clearingStates, clearingTransitions, factsOfTrigger, intentTransitions } from "./clearing/state.ts";
import { intentStatuses, statusOf } from "./payment-intent/state.ts";
import { refundStates, refundTransitions } from "./refund/state.ts";

type Transitions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A machine of states: its name, in the order in which it is read, and its table. */
interface Machine {
  readonly title: string;
  readonly about: string;
  readonly states: readonly string[];
  /** What it may begin as; the first state unless told. */
  readonly starts?: readonly string[];
  readonly transitions: Transitions;
}

const machines: readonly Machine[] = [
  {
    title: "Payment intent",
    about: "`status` of a payment intent. Once it is confirmed, it follows from the state of its clearing.",
    states: intentStatuses,
    transitions: intentTransitions,
  },
  {
    title: "Clearing",
    about: "`state` of a clearing: one entry of the timeline for each step.",
    states: clearingStates,
    transitions: clearingTransitions,
  },
  {
    title: "Refund",
    about:
      "`state` of a refund. One whose payment is not final yet is `pending` until it is; where nobody can tell whom to pay it begins as `requires-destination`.",
    states: refundStates,
    starts: ["pending", "requires-destination"],
    transitions: refundTransitions,
  },
];

/** The state machines as Markdown: the contents of `docs/reference/payment-states.md`. */
export function stateReference(): string {
  const rows = clearingStates.map((state) => `| \`${state}\` | \`${statusOf[state]}\` |`);
  const facts = Object.entries(factsOfTrigger)
    .filter(([, told]) => told.length > 0)
    .map(([trigger, told]) => `| ${trigger} | ${told.map((fact) => `\`${fact}\``).join(", ")} |`);
  return `# States of a payment

Made from the transition tables by \`npm run reference\`; a test compares the two. Anything that is not drawn here cannot
happen.

${machines.map(sectionOf).join("\n\n")}

## Status and state

| clearing.state | paymentIntent.status |
|---|---|
${rows.join("\n")}

## What the world is told

| step | facts |
|---|---|
${facts.join("\n")}
`;
}

function sectionOf({ title, about, states, starts = states.slice(0, 1), transitions }: Machine): string {
  const drawn = states.flatMap((from) =>
    stepsOf(transitions, from).map(([trigger, to]) => `  ${name(from)} --> ${name(to)}: ${trigger}`),
  );
  const ends = states
    .filter((state) => stepsOf(transitions, state).length === 0)
    .map((state) => `  ${name(state)} --> [*]`);
  const names = states.filter((state) => name(state) !== state).map((state) => `  ${name(state)}: ${state}`);
  const first = starts.map((state) => `  [*] --> ${name(state)}`);
  const lines = ["stateDiagram-v2", ...names, ...first, ...drawn, ...ends];
  return `## ${title}\n\n${about}\n\n\`\`\`mermaid\n${lines.join("\n")}\n\`\`\``;
}

function stepsOf(transitions: Transitions, state: string) {
  return Object.entries(transitions[state] ?? {});
}

/** Mermaid takes a hyphen for an operator. */
function name(state: string): string {
  return state.replaceAll("-", "_");
}
