import { hkdfSync } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Facilitator } from "#facilitator";
import type { Clock } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import type { Database } from "#store";
import { healthRoutes, type Readiness } from "./health.ts";
import type { Edge } from "./http/context.ts";
import { errorRoutes } from "./http/errors.ts";
import { openCors, privateAnswers, securityHeaders } from "./http/headers.ts";
import { memoryLimits, noLimits } from "./http/limit.ts";
import { answerNotFound } from "./http/not-found.ts";
import { onError } from "./http/problem.ts";
import { requestContext } from "./http/request-id.ts";
import { refuseInvalid } from "./http/route.ts";
import { echoVersion, serviceVersion } from "./http/version.ts";
import { createAuthenticator } from "./merchant/authenticate.ts";
import { addDocument } from "./openapi.ts";
import { resourceRoutes } from "./resource/routes.ts";
import { describeAgentUrl, mountAgentUrl } from "./x402/agent-url.ts";
import { type AgentDoor, mountAgentDoor } from "./x402/agents.ts";
import { mountDocuments } from "./x402/documents.ts";
import { payableIndex } from "./x402/payable-index.ts";
import { mountPayments } from "./x402/payments.ts";
import { describePayments, x402Routes } from "./x402/routes.ts";

export type { Readiness } from "./health.ts";
export { type Permission, permissions } from "./http/permissions.ts";
export { deriveKey, type KeyKind, type Secret } from "./merchant/key.ts";
export {
  type CreatedKey,
  createKey,
  createMerchant,
  type KeyInput,
  type MerchantInput,
  type MerchantRow,
  type Operator,
  revokeKey,
} from "./merchant/verbs.ts";
export { paymentCodec } from "./x402/codec.ts";

export interface ApiConfig {
  /** Public base URL; a slash at its end is cut. */
  readonly baseUrl: string;
  readonly masterSecret: string | Uint8Array;
  /** http, and hosts of a private network, may be registered: only where the sole chain is a local one. */
  readonly allowLocalTargets: boolean;
  readonly rateLimits: "on" | "off";
  /** Current date revision of `/v1`. */
  readonly revision: string;
  /** Of the software. */
  readonly version: string;
  /** A deployment for trying things out: secret keys work from a browser. Off when left out. */
  readonly isSandbox?: boolean;
  /** Proxies in front whose word on the caller's address is taken. None when left out. */
  readonly trustedProxyHops?: number;
}
export interface ApiDeps {
  readonly db: Database;
  readonly facilitator: Facilitator;
  readonly config: ApiConfig;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly ready: () => Promise<Readiness>;
  /** The MCP server; without one its path is not found. */
  readonly agents?: AgentDoor;
}

/** Everything HTTP, as one app that listens nowhere. Source: interface §4. */
export function createApi({ db, facilitator, config, clock, newId, log, ready, agents }: ApiDeps): {
  readonly app: OpenAPIHono;
} {
  const { masterSecret, revision, version, allowLocalTargets } = config;
  const baseUrl = config.baseUrl.replace(/\/+$/, "");
  const edge: Edge = {
    db,
    clock,
    newId,
    log,
    baseUrl,
    revision,
    isSandbox: config.isSandbox ?? false,
    authenticate: createAuthenticator({ db, clock, log, masterSecret }),
    limits: config.rateLimits === "on" ? memoryLimits() : noLimits,
    cursorKey: new Uint8Array(hkdfSync("sha256", masterSecret, "", "farebox cursors v1", 32)),
    trustedProxyHops: config.trustedProxyHops ?? 0,
  };
  const app = new OpenAPIHono({ defaultHook: refuseInvalid });
  // Ahead of everything else: these answer without passing through the general middleware.
  mountPayments(app, { edge, facilitator });
  if (agents) mountAgentDoor(app, edge, agents);

  app.use(requestContext(edge), securityHeaders(baseUrl));
  app.onError(onError);
  app.notFound(answerNotFound(app));
  for (const path of ["/x402/*", "/openapi.json", "/errors/*"]) app.use(path, openCors);
  app.use("/v1/*", echoVersion, privateAnswers, serviceVersion);

  app.openapiRoutes(healthRoutes({ version, revision, ready }));
  app.openapiRoutes(errorRoutes);
  app.openapiRoutes(resourceRoutes({ facilitator, allowLocalTargets }));
  app.openapiRoutes(x402Routes({ facilitator, baseUrl }));
  app.openapiRoutes([payableIndex({ facilitator })] as const);
  mountAgentUrl(app, { facilitator, baseUrl });
  mountDocuments(app, { facilitator, baseUrl });
  describePayments(app);
  describeAgentUrl(app);
  addDocument(app, { baseUrl, version });
  return { app };
}
