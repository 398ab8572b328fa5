/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { Obstacle } from "../../mail/obstacle.ts";
import type { Undelivered } from "../../mail/verbs/undelivered.ts";
import { Card } from "./heading.tsx";
import { Badge, Facts, Time } from "./shown.tsx";

const reasons: Readonly<Record<Obstacle, string>> = {
  "no-mailbox": "There is no such mailbox.",
  "mailbox-full": "The mailbox is full.",
  unwanted: "The mail server did not want it.",
  refused: "The mail server refused it.",
  later: "The mail server asked to come again later.",
  unreachable: "No mail server took it.",
};

interface MailsProps {
  readonly mails: readonly Undelivered[];
  /** What can be done about it. */
  readonly children?: Child;
}

/** Mails that nobody has taken; nothing where there are none. */
export function MailsCard({ mails, children }: MailsProps) {
  if (mails.length === 0) return null;
  return (
    <Card title="Mails that did not arrive">
      {mails.map((mail) => (
        <Facts of={factsOf(mail)} />
      ))}
      {children}
    </Card>
  );
}

function factsOf({ to, subject, state, createdAt, obstacle, said }: Undelivered) {
  return [
    ["To", to],
    ["Mail", subject],
    ["Written", <Time at={createdAt} />],
    [
      "State",
      state === "failed" ? (
        <Badge state="given up" tone="bad" />
      ) : (
        <Badge state="tried again by itself" tone="warn" />
      ),
    ],
    ["Why", reasons[obstacle]],
    ["It was said", said],
  ] as const;
}
