/** What a wallet sent for a payment in this tab. A page that is loaded again before the network has it would offer to send
 *  it twice. */
interface Sent {
  readonly hash: string;
  /** What it was to pay, in atomic units. */
  readonly amount: string;
  readonly atMs: number;
}

/** What takes longer may have been dropped by the network or called off in the wallet: then it may be sent again. */
const KEPT_MS = 5 * 60_000;
const nameOf = (id: string) => `sent ${id}`;

export function keepSent(id: string, sent: Sent): void {
  try {
    sessionStorage.setItem(nameOf(id), JSON.stringify(sent));
  } catch {
    // A browser may keep nothing. The page that is open knows it all the same.
  }
}

/** What was sent lately and has not come: as long as that much is missing still. */
export function sentBefore(id: string, amount: string, nowMs: number): Sent | null {
  try {
    const sent = JSON.parse(sessionStorage.getItem(nameOf(id)) ?? "null") as Sent | null;
    return sent?.amount === amount && nowMs - sent.atMs < KEPT_MS ? sent : null;
  } catch {
    return null;
  }
}
