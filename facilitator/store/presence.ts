import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import pg from "pg";
import { fault } from "#kernel/fault";
import { errorFields, type Log } from "#kernel/log";

/** Shows the other processes that this one lives. */
export interface Presence {
  /** Resolves when they can see it. Fault: `database_unavailable`. */
  show(): Promise<void>;
  close(): Promise<void>;
}

export interface PresenceOptions {
  readonly url: string;
  readonly log: Log;
  readonly role: "farebox_app";
  /** By which the others know this process. */
  readonly name: string;
}

const CONNECT_TIMEOUT_MS = 1_500;

/** A session that holds a lock named after the process: PostgreSQL ends both at the moment the process is gone. The lock is
 *  shared, so that a new session need not wait for the server to notice the end of the last one. */
export function openPresence({ url, log, role, name }: PresenceOptions): Presence {
  let session: Promise<pg.Client> | null = null;

  async function begin(ended: () => void): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: url,
      application_name: "farebox-presence",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      options: `-c role=${role}`,
    });
    client.on("error", (error) =>
      log.warn(errorFields(error), "the session that shows this process was lost"),
    );
    client.once("end", ended);
    try {
      await client.connect();
      await client.query("SELECT pg_advisory_lock_shared(hashtextextended($1, 0))", [name]);
      return client;
    } catch (error) {
      ended();
      await client.end().catch(() => undefined);
      throw fault("database_unavailable", {}, error);
    }
  }

  return {
    async show() {
      if (session === null) {
        const begun = begin(() => {
          if (session === begun) session = null;
        });
        session = begun;
      }
      await session;
    },
    async close() {
      const client = await session?.catch(() => null);
      await client?.end();
    },
  };
}

/** Whether nobody of this name shows himself. */
export const isGone = (name: SQLWrapper): SQL => sql`NOT EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
    AND (classid::bigint << 32) | objid::bigint = hashtextextended(${name}, 0))`;
