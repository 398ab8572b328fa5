import type { Context } from "hono";
import type { Clock } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import type { Database, Executor, Tx } from "#store";
import type { Permission } from "./permissions.ts";
import type { Allowance, Count, Limits, RateName } from "./rates.ts";
import type { Served } from "./version.ts";
import type { Writes } from "./writes.ts";

declare const authenticated: unique symbol;

/** Who asks and what they may do. Only authentication makes one (`api/merchant/authenticate.ts`), so a function that
 *  takes a scope cannot be reached without a key. */
export interface MerchantScope {
  readonly [authenticated]: true;
  readonly merchantId: string;
  /** The 12 characters that may be logged. */
  readonly keyId: string;
  readonly kind: "sk" | "pk";
  readonly permissions: ReadonlySet<Permission>;
  /** The operator lets it ask for no money, and take none out. */
  readonly isSuspended: boolean;
  /** Origins of pages that may use a publishable key: its own, or else its merchant's. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and networks that the key works from; null is everywhere. */
  readonly allowedIps: readonly string[] | null;
  /** When the key ends, by its expiry or since it was replaced; null is never. */
  readonly expiresAt: Date | null;
}

/** What the plumbing needs of the house; one per process. */
export interface Edge {
  readonly db: Database;
  /** The merchants': a sandbox may be ahead of the machine's time. */
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  /** Public base URL, without a slash at the end. */
  readonly baseUrl: string;
  /** Only a local chain: a secret key may be used from a browser. */
  readonly isSandbox: boolean;
  /** Null for a key that is unknown, revoked or expired. `isKnownOnly`: without asking the database about a key that
   *  was never good here. */
  readonly authenticate: (
    key: string,
    how?: { readonly isKnownOnly: boolean },
  ) => Promise<MerchantScope | null>;
  /** Writes into the audit log which request of a key changed what. */
  readonly note: (
    db: Executor,
    ctx: MerchantCtx,
    done: { readonly route: `${string} /${string}`; readonly subject: string },
  ) => Promise<void>;
  /** Whether a page of this origin may use some publishable key. */
  readonly isKnownOrigin: (origin: string) => Promise<boolean>;
  readonly count: Count;
  readonly limits: Limits;
  /** Keyed writes that are running in this process. */
  readonly writes: Writes;
  /** Signs paging cursors. */
  readonly cursorKey: Uint8Array;
  /** Reverse proxies in front whose `X-Forwarded-For` entries are believed. */
  readonly trustedProxyHops: number;
}

/** One request. */
export interface Ctx {
  readonly requestId: string;
  readonly log: Log;
  /** By the merchants' clock. */
  now(): Date;
}

/** One write of somebody without a key, who holds the address of what it is about. */
export interface WriterCtx extends Ctx {
  readonly newId: NewId;
  readonly db: Database;
  /** Joins the transaction that holds the idempotency record, where there is one. */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** One request of a merchant's key. */
export interface MerchantCtx extends WriterCtx {
  readonly scope: MerchantScope;
  readonly merchantId: string;
  /** Fault: `permission_denied`. */
  demand(permission: Permission): void;
  /** Counts one thing that the merchant newly shows in discovery. Fault: `rate_limited`. Source: security.md §5. */
  countListing(): Promise<void>;
}

/** How verbs are called. */
export interface Call<Input> {
  readonly ctx: MerchantCtx;
  readonly input: Input;
}

declare module "hono" {
  interface ContextVariableMap {
    edge: Edge;
    ctx: Ctx;
    /** Set behind `secretKey()` and `publishableKey()` only. */
    merchant: MerchantCtx;
    /** Whether the audit log needs to hear no more of this request. */
    isNoted?: boolean;
    /** The date revision that this `/v1` request is answered in. */
    served: Served;
    /** What the request was last counted by. */
    rate?: { readonly name: RateName; readonly allowance: Allowance };
  }
}

/** The request of Node behind this one; absent when a test calls the app without a socket. */
export interface NodeRequest {
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

export function nodeRequest(c: Context): NodeRequest | undefined {
  return (c.env as { readonly incoming?: NodeRequest } | undefined)?.incoming;
}

/** How many headers of this name came. The joined value that everything else reads hides a second one. */
export function headerCount(c: Context, name: string): number {
  const raw = nodeRequest(c)?.rawHeaders;
  if (!raw) return c.req.header(name) === undefined ? 0 : 1;
  return raw.filter((text, i) => i % 2 === 0 && text.toLowerCase() === name).length;
}
