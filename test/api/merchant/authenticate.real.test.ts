import { describe, expect, it } from "vitest";
import { systemRandom } from "#kernel/system";
import type { Database } from "#store";
import { createAuthenticator } from "../../../api/merchant/authenticate.ts";
import { makeKey } from "../../../api/merchant/key.ts";
import { sharedDatabase } from "../../support/db.ts";
import { masterSecret, newCaller } from "../caller.ts";
import { clock, recordingLog } from "../world.ts";

const database = sharedDatabase();

/** The database, until it is asked ten thousand times for what it does not have: then what it would answer. */
function quick() {
  const none = { from: () => ({ innerJoin: () => ({ where: async () => [] }) }) };
  const state = { isEmpty: false };
  const db = {
    ...database.db,
    get pool() {
      return state.isEmpty ? { select: () => none } : database.db.pool;
    },
  } as unknown as Database;
  return { db, state };
}

describe("keys that were looked up", () => {
  it("are remembered, however many made-up ones come after", async () => {
    const { db, state } = quick();
    const authenticate = createAuthenticator({ db, clock, log: recordingLog(), masterSecret });
    const { key, merchantId } = await newCaller(database.db);
    await authenticate(key);
    state.isEmpty = true;
    for (let made = 0; made <= 10_000; made += 1)
      expect(await authenticate(makeKey("sk", systemRandom))).toBeNull();
    expect(await authenticate(key, { isKnownOnly: true })).toMatchObject({ merchantId });
  });
});
