import type { Job } from "../http/job.ts";
import type { MailDesk } from "./verbs/desk.ts";
import { MAIL_QUEUED } from "./verbs/queue.ts";
import { sendDueMail } from "./verbs/send.ts";

/** How many a process sends at a time. Other jobs wait in the same queue: a mail server that has gone silent must not
 *  keep all its hands. */
const AT_ONCE = 2;
/** How long a mail under way is left to end when the process stops. */
const GRACE_MS = 3_000;

/** Sends mail: at once when it was queued, then at its times. The rows say what is due, so a lost job loses no mail. */
export function mailJobs(desk: MailDesk): readonly Job[] {
  let running = 0;
  let isAsked = false;

  /** Sends what is due, unless enough are at it already: then one of them looks again. */
  async function sendDue(stopping: AbortSignal): Promise<void> {
    isAsked = true;
    if (running >= AT_ONCE) return;
    running += 1;
    const cut = new AbortController();
    const onStop = () => void desk.clock.sleep(GRACE_MS, cut.signal).then(() => cut.abort());
    stopping.addEventListener("abort", onStop, { once: true });
    try {
      while (isAsked && !stopping.aborted) {
        isAsked = false;
        let sent = await sendDueMail(desk, cut.signal);
        while (sent === "handled" && !stopping.aborted) sent = await sendDueMail(desk, cut.signal);
        // The next minute's run finds out whether the way is open again.
        if (sent === "outage") return;
      }
    } finally {
      running -= 1;
      stopping.removeEventListener("abort", onStop);
    }
  }
  const run: Job["run"] = ({ stopping }) => sendDue(stopping);
  return [
    { name: "send-mail", hears: [MAIL_QUEUED], attempts: 3, run },
    { name: "send-due-mail", at: "* * * * *", attempts: 1, run },
  ];
}
