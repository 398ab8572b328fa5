import { canonicalJson } from "#kernel/codec";
import { assert } from "#kernel/fault";
import { isUnavailable } from "../unavailable.ts";
import type { Source } from "./client.ts";
import type { Room } from "./room.ts";

/** What moves money by what a chain says needs this many endpoints to say the same, where so many are configured. */
export const WITNESSES = 2;

/** What one endpoint says, null when it has nothing there (yet); or that it gave no useful answer. */
export type Testimony<T> = { readonly said: T | null } | "silent";

/** What two endpoints say alike; null when they have nothing there. More than two are asked while no two agree, so that
 *  a third one outvotes a liar. Where those who speak contradict each other nobody is believed: rejects with
 *  `chain_unavailable`, as when too few speak. */
export function agreed<T>(
  room: Room,
  what: string,
  ask: (source: Source) => Promise<Testimony<T>>,
): Promise<T | null> {
  return hear(room, what, room.rpc.sources(WITNESSES), ask);
}

/** What `read` finds at two endpoints alike, each asked alone. Rejects as `agreed` does. */
export async function readAlike<T>(room: Room, what: string, read: (room: Room) => Promise<T>): Promise<T> {
  const found = await hear(room, what, room.rpc.alone(WITNESSES), (rpc) =>
    read({ ...room, rpc }).then((said) => ({ said }), silentIfUnavailable),
  );
  assert(found !== null, "what is read is found");
  return found;
}

function silentIfUnavailable(error: unknown): "silent" {
  if (isUnavailable(error)) return "silent";
  throw error;
}

async function hear<T, W>(
  room: Room,
  what: string,
  witnesses: readonly W[],
  ask: (witness: W) => Promise<Testimony<T>>,
): Promise<T | null> {
  const heard = await Promise.all(witnesses.slice(0, WITNESSES).map(ask));
  for (const witness of witnesses.slice(WITNESSES)) {
    if (alike(heard)) break;
    heard.push(await ask(witness));
  }
  const spoken = heard.filter((testimony) => testimony !== "silent");
  if (heard.length === 1 && spoken[0]) return spoken[0].said;
  const views = new Set(spoken.flatMap(({ said }) => (said === null ? [] : [canonicalJson(said)])));
  if (views.size > 1) tellDisagreement(room, what);
  const found = alike(heard);
  if (found) return found.said;
  if (views.size > 1) throw room.rpc.unavailable(new Error(`endpoints disagree about ${what}`));
  if (spoken.length < heard.length) throw room.rpc.unavailable(new Error(`no useful answer about ${what}`));
  return null;
}

/** What two of them said. */
function alike<T>(heard: readonly Testimony<T>[]): { readonly said: T | null } | undefined {
  const counts = new Map<string, number>();
  for (const testimony of heard) {
    if (testimony === "silent") continue;
    const view = canonicalJson(testimony.said);
    counts.set(view, (counts.get(view) ?? 0) + 1);
    if (counts.get(view) === WITNESSES) return testimony;
  }
  return undefined;
}

function tellDisagreement(room: Room, what: string): void {
  room.onDisagreement?.();
  room.log.error({ chain: room.row.slug }, `endpoints disagree about ${what}`);
}
