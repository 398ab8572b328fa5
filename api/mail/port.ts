/** A mail, ready to go: every text is clean and on one line where headers need it. */
export interface Letter {
  /** Without angle brackets. The same for every try, so that a mail that came twice is seen to be one. */
  readonly messageId: string;
  /** One address. */
  readonly to: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | null;
  readonly date: Date;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** What the next server said to it: it has taken the mail over, refuses it for good, or asks to come again; the last two
 *  with its own words. */
export type Handed =
  | { readonly outcome: "taken" }
  | { readonly outcome: "refused" | "later"; readonly code: string; readonly reason: string };

/** The way out for mail. Rejects when the way is closed: no server answers, or it wants nothing of ours. Whether the mail
 *  was taken is not known then; it is sent again. */
export interface Mailer {
  /** `cut` ends it at once, as an outage would. */
  send(letter: Letter, cut?: AbortSignal): Promise<Handed>;
}
