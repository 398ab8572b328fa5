import type { Facilitator } from "#facilitator";
import type { Clock } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import type { Database } from "#store";
import type { Readiness } from "./health.ts";
import type { SafeFetch } from "./http/safe-fetch.ts";
import type { Revision } from "./http/version.ts";
import type { Mailer } from "./mail/port.ts";
import type { ProviderAdapter } from "./provider/port.ts";
import type { Sandbox } from "./provider/sandbox.ts";
import type { Rates } from "./rate/rates.ts";
import type { AgentDoor } from "./x402/agents.ts";

export interface ApiConfig {
  /** Public base URL; a slash at its end is cut. */
  readonly baseUrl: string;
  readonly masterSecret: string | Uint8Array;
  /** http, and hosts of a private network, may be registered: only where the sole chain is a local one. */
  readonly allowLocalTargets: boolean;
  readonly rateLimits: "on" | "off";
  /** Of the software. */
  readonly version: string;
  /** Dated revisions of `/v1` after the first, newest first; those of the house when left out. */
  readonly revisions?: readonly Revision[];
  /** A deployment for trying things out: secret keys work from a browser. Off when left out. */
  readonly isSandbox?: boolean;
  /** Proxies in front whose word on the caller's address is taken. None when left out. */
  readonly trustedProxyHops?: number;
}
export interface ApiDeps {
  readonly db: Database;
  /** For what goes on apart from requests; the same one when left out. */
  readonly loopDb?: Database;
  readonly facilitator: Facilitator;
  readonly config: ApiConfig;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly ready: () => Promise<Readiness>;
  readonly rates: Rates;
  /** The MCP server; without one its path is not found. */
  readonly agents?: AgentDoor;
  /** The way to addresses that merchants gave; the guarded one when left out. */
  readonly safeFetch?: SafeFetch;
  /** Outside companies that take money for us, beside a sandbox's simulated one. */
  readonly providers?: readonly ProviderAdapter[];
  /** The way out for mail and the address that it comes from; without it none is written. */
  readonly mail?: { readonly mailer: Mailer; readonly from: string } | undefined;
  /** What a sandbox can do to its world; without it the routes under `/v1/test` are not found. */
  readonly sandbox?: Sandbox | undefined;
}
