/** Why a mail did not arrive, as far as can be told. */
export type Obstacle = "no-mailbox" | "mailbox-full" | "unwanted" | "refused" | "later" | "unreachable";

/** What a mail server answered, its code first. Without one there was no answer. */
const ANSWER = /^(?<code>[45]\d\d)\s+(?:(?<enhanced>[45]\.\d{1,3}\.\d{1,3})\s+)?(?<text>.*)$/s;
const FULL = /mailbox (?:is )?full|over ?quota|quota exceeded/i;
const NOBODY = /no such (?:user|mailbox|recipient)|user unknown|unknown user|does not exist/i;

/** What stood in the way of a mail, by what was said last. Enhanced codes tell more than the others: RFC 3463. Pure. */
export function obstacleIn(said: string): Obstacle {
  const { code = "", enhanced = "", text = "" } = ANSWER.exec(said)?.groups ?? {};
  if (code === "") return "unreachable";
  const [, subject = "", detail = ""] = enhanced.split(".");
  if (code === "552" || (subject === "2" && detail === "2") || FULL.test(text)) return "mailbox-full";
  if (code.startsWith("4")) return "later";
  if (subject === "7") return "unwanted";
  if (subject === "1" || (subject === "2" && detail === "1") || NOBODY.test(text)) return "no-mailbox";
  return code === "554" ? "unwanted" : "refused";
}
