import { hkdfSync } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Facilitator } from "#facilitator";
import type { Clock } from "#kernel/clock";
import { isId, type NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import { systemRandom } from "#kernel/system";
import type { Database, outbox, Tx } from "#store";
import { cartRoutes } from "./cart/routes.ts";
import { catalogRoutes } from "./catalog/routes.ts";
import type { ClearingDesk } from "./clearing/desk.ts";
import { clearingHearer } from "./clearing/hear.ts";
import { clearingLoops, type MoneyLoop } from "./clearing/loop.ts";
import { clearingRoutes } from "./clearing/routes.ts";
import { customerRoutes } from "./customer/routes.ts";
import { dashboardJobs } from "./dashboard/jobs.ts";
import { mountDashboard } from "./dashboard/routes.ts";
import { proofKey } from "./documents/proof.ts";
import { documentRoutes, mountProofKey } from "./documents/routes.ts";
import { eventFamilies } from "./events.ts";
import { healthRoutes, type Readiness } from "./health.ts";
import type { Edge } from "./http/context.ts";
import { keyCors } from "./http/cors.ts";
import { errorRoutes } from "./http/errors.ts";
import { openCors, privateAnswers, securityHeaders } from "./http/headers.ts";
import type { Job } from "./http/job.ts";
import { requestJobs } from "./http/jobs.ts";
import { limitByAddress, limitsOf, memoryCount, noCount, rateHeaders } from "./http/limit.ts";
import { answerNotFound } from "./http/not-found.ts";
import { refuseNul } from "./http/nul.ts";
import { onError } from "./http/problem.ts";
import { requestContext } from "./http/request-id.ts";
import { refuseInvalid } from "./http/route.ts";
import { createSafeFetch, deliveryLimits, type SafeFetch } from "./http/safe-fetch.ts";
import { currentOf, echoVersion, type Revision, revisions, serviceVersion } from "./http/version.ts";
import { createWrites } from "./http/writes.ts";
import { invoiceHearer, invoiceLoops } from "./invoice/loop.ts";
import { invoiceRoutes } from "./invoice/routes.ts";
import { deriveIntent as deriveInvoiceIntent } from "./invoice/verbs/derive.ts";
import type { InvoiceDesk } from "./invoice/verbs/desk.ts";
import { republishInvoices } from "./invoice/verbs/republish.ts";
import { mailJobs } from "./mail/jobs.ts";
import type { Mailer } from "./mail/port.ts";
import { mailHearer } from "./mail/sources/index.ts";
import { createAuthenticator, createStandIn } from "./merchant/authenticate.ts";
import { whenTermsChange } from "./merchant/jobs.ts";
import { createOriginBook } from "./merchant/known-origin.ts";
import { merchantRoutes } from "./merchant/routes.ts";
import { noteRequest } from "./merchant/verbs/audit.ts";
import { addDocument } from "./openapi.ts";
import { mountPages } from "./pages/routes.tsx";
import { paymentRoutes } from "./payment/routes.ts";
import { paymentIntentRoutes } from "./payment-intent/routes.ts";
import type { Making } from "./payment-intent/verbs/create.ts";
import { republishIntents } from "./payment-intent/verbs/republish.ts";
import { linkIntents } from "./payment-link/agents.ts";
import { linkHearer } from "./payment-link/hear.ts";
import { paymentLinkRoutes } from "./payment-link/routes.ts";
import type { CheckoutDesk } from "./payment-link/verbs/checkout.ts";
import { type AgentVisit, deriveIntent } from "./payment-link/verbs/derive.ts";
import { isLinkFull } from "./payment-link/verbs/places.ts";
import { republishLinks } from "./payment-link/verbs/republish.ts";
import { payoutHearer } from "./payout/events.ts";
import { payoutRoutes } from "./payout/routes.ts";
import { providerJobs } from "./provider/jobs.ts";
import { providerHearer, providerLoop } from "./provider/loop.ts";
import type { ProviderAdapter } from "./provider/port.ts";
import { callbackRoutes, sandboxRoutes } from "./provider/routes.ts";
import type { Sandbox } from "./provider/sandbox.ts";
import { quoteRoutes } from "./quote/routes.ts";
import type { QuoteInput } from "./quote/schema.ts";
import { quote } from "./quote/verbs.ts";
import type { Rates } from "./rate/rates.ts";
import { rateRoutes } from "./rate/routes.ts";
import { ExecutionPath } from "./rate/schema.ts";
import type { Pricing } from "./rate/verbs.ts";
import { mountReference } from "./reference/routes.tsx";
import { refundHearer, refundLoop } from "./refund/loop.ts";
import { refundRoutes } from "./refund/routes.ts";
import { noncesOf } from "./refund/siwe.ts";
import { refundedOf } from "./refund/verbs/refunded.ts";
import { resourceJobs } from "./resource/jobs.ts";
import { resourceRoutes } from "./resource/routes.ts";
import { subscriptionJobs } from "./subscription/jobs.ts";
import { subscriptionHearer, subscriptionLoops } from "./subscription/loop.ts";
import { subscriptionRoutes } from "./subscription/routes.ts";
import { createCourier } from "./webhook/courier.ts";
import { describeEvents } from "./webhook/describe.ts";
import { PING } from "./webhook/events.ts";
import { merchantTeller, webhookHearer } from "./webhook/hear.ts";
import { webhookJobs } from "./webhook/jobs.ts";
import { webhookRoutes } from "./webhook/routes.ts";
import { createSeal } from "./webhook/seal.ts";
import { describeAgentUrl, mountAgentUrl, pagePaths } from "./x402/agent-url.ts";
import { type AgentDoor, mountAgentDoor } from "./x402/agents.ts";
import { mountDocuments } from "./x402/documents.ts";
import { type Meant, meantBy } from "./x402/meant.ts";
import { payableIndex } from "./x402/payable-index.ts";
import { mountPayments } from "./x402/payments.ts";
import { describePayments, x402Routes } from "./x402/routes.ts";

export { areCaughtUp } from "./caught-up.ts";
export type { MoneyLoop } from "./clearing/loop.ts";
export { type ProofProblem, problemOf as problemOfProof } from "./documents/proof.ts";
export { eventReference, eventSchemas } from "./event-reference.ts";
export type { Readiness } from "./health.ts";
export { errorReference } from "./http/errors.ts";
export type { Job } from "./http/job.ts";
export { type Permission, permissions } from "./http/permissions.ts";
export { createSafeFetch } from "./http/safe-fetch.ts";
export { fileMailer } from "./mail/file.ts";
export type { Mailer } from "./mail/port.ts";
export { smtpMailer } from "./mail/smtp.ts";
export { type MailBacklog, mailBacklog } from "./mail/verbs/backlog.ts";
export { deriveKey, type KeyKind, type Secret } from "./merchant/key.ts";
export type { MerchantInput } from "./merchant/schema.ts";
export type { KeyInput } from "./merchant/verbs/key-row.ts";
export type { MerchantRow } from "./merchant/verbs/merchant.ts";
export {
  type CreatedKey,
  changeFee,
  createKey,
  createMerchant,
  listEveryKey,
  listMerchants,
  type Operator,
  replaceKey,
  revokeKey,
} from "./merchant/verbs/operator.ts";
export { stateReference } from "./payment-states.ts";
export { type SandboxAccess, sandboxAccess, sandboxProvider } from "./provider/adapters/sandbox.ts";
export { openMovableClock } from "./provider/clock.ts";
export type { Sandbox, SandboxChain } from "./provider/sandbox.ts";
export { fixedRates, liveRates, type Rates } from "./rate/rates.ts";
export { paymentCodec } from "./x402/codec.ts";

/** Quotes for a room that must not know this one: it is handed to MCP where the house is composed. */
export function quoter(pricing: Pick<Pricing, "rates" | "facilitator">) {
  return (input: QuoteInput) => quote(pricing, { input });
}

/** Intents of what agents are not offered directly, for the same room. Null for what has none. */
export function intentDeriver(
  parts: CheckoutDesk & Omit<InvoiceDesk, "isFull"> & Making & Pick<ApiDeps, "facilitator">,
) {
  const desk = { ...parts, isFull: fullness(parts.now) };
  return async ({
    id,
    payment,
    ...visitor
  }: Omit<AgentVisit, "ctx" | keyof Meant> & { payment: unknown }) => {
    const meant = await meantBy(desk.facilitator, payment);
    if (meant.bound === id) return null;
    if (isId("plink", id)) return deriveIntent(desk, { ...visitor, ...meant, id, ctx: desk });
    return isId("inv", id) ? deriveInvoiceIntent(desk, { ...meant, id }) : null;
  };
}

/** Clearing knows no links, so it is handed their word on whether a place is left. */
function fullness(now: () => Date): ClearingDesk["isFull"] {
  return (tx, intent) => isLinkFull(tx, now(), intent);
}

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

/** Read by anybody, the same for everybody. */
const documentPaths = ["/docs/*", "/openapi.json", "/errors/*", "/llms.txt", "/.well-known/ai-catalog.json"];

/** Told of facts in the transaction that marks them as delivered. */
type Hearer = (tx: Tx, facts: readonly outbox.ToldFact[]) => Promise<void>;

/** A new payout address must wait a day. */
const COOLING_MS = 24 * 3_600_000;

/** Everything HTTP, as one app that listens nowhere. Source: interface §4. */
export function createApi({
  db,
  facilitator,
  config,
  clock,
  newId,
  log,
  ready,
  rates,
  agents,
  sandbox,
  ...rest
}: ApiDeps): {
  readonly app: OpenAPIHono;
  /** Health alone, for a process that only runs what goes on apart from requests. */
  readonly probes: OpenAPIHono;
  /** What has to be done apart from requests. */
  readonly jobs: readonly Job[];
  /** What moves money on: over and over, in every process that may. */
  readonly loops: readonly MoneyLoop[];
  /** Who inside wants to know of facts. */
  readonly hearers: readonly Hearer[];
  /** Ends what browsers keep open: this process is about to stop. */
  readonly drain: () => void;
} {
  const { masterSecret, version, allowLocalTargets } = config;
  const { loopDb = db } = rest;
  const baseUrl = config.baseUrl.replace(/\/+$/, "");
  const later = config.revisions ?? revisions;
  const isSandbox = config.isSandbox ?? false;
  const count = config.rateLimits === "on" ? memoryCount() : noCount;
  // Merchants live by a clock that a sandbox can move; what others judge by their own clocks goes by the machine's.
  const merchantClock = sandbox?.clock.clock ?? clock;
  const adapters = [...(rest.providers ?? []), ...(sandbox?.provider ? [sandbox.provider] : [])];
  const providers = new Map(adapters.map((each) => [each.name, each]));
  const now = () => merchantClock.now();
  const isFull = fullness(now);
  const clearing = { db, facilitator, rates, baseUrl, isSandbox, isFull, newId, now, log };
  const intentDesk = { ...clearing, providers: [...providers.keys()] };
  const invoices = { ...clearing, providers: [] as const };
  const explorerUrl = (of: string, transaction: string) => {
    const served = facilitator.chains().find(({ chain }) => chain === of);
    return served?.explorer ? `${served.explorer}/tx/${transaction}` : null;
  };
  const mailDesk = rest.mail && { ...rest.mail, db: loopDb, baseUrl, explorerUrl, clock, now, newId, log };
  const providerDesk = { db, providers, clock, log, refunds: { facilitator }, keeping: clearing };
  const edge: Edge = {
    db,
    clock: merchantClock,
    newId,
    log,
    baseUrl,
    isSandbox,
    authenticate: createAuthenticator({ db, clock: merchantClock, log, masterSecret }),
    note: noteRequest,
    isKnownOrigin: createOriginBook({ db, clock: merchantClock, isSandbox }),
    count,
    limits: limitsOf(count),
    writes: createWrites(clock),
    cursorKey: new Uint8Array(hkdfSync("sha256", masterSecret, "", "farebox cursors v1", 32)),
    trustedProxyHops: config.trustedProxyHops ?? 0,
  };
  const userAgent = `Farebox/${version} (+${baseUrl})`;
  const safeFetch = rest.safeFetch ?? createSafeFetch({ allowLocal: allowLocalTargets, userAgent });
  const deliver =
    rest.safeFetch ?? createSafeFetch({ allowLocal: allowLocalTargets, userAgent, limits: deliveryLimits });
  const seal = createSeal(masterSecret, systemRandom);
  const families = eventFamilies({ facilitator, baseUrl, now });
  const allTypes = families.flatMap(({ types }) => types);
  const telling = { newId, now, apiVersion: currentOf(later) };
  const posting = { db: loopDb, fetch: deliver, clock, now, newId, random: systemRandom, seal, log };
  const courier = createCourier({ ...posting, revisions: later });
  const pricing: Pricing = { rates, facilitator, executionPaths: ExecutionPath.options };
  const keys = { random: systemRandom, masterSecret };
  const shop = { facilitator, allowLocalTargets, safeFetch };
  const till = { facilitator, coolingMs: isSandbox ? 0 : COOLING_MS };
  const post = { seal, allowLocalTargets, allTypes, types: allTypes.filter((type) => type !== PING) };
  const app = new OpenAPIHono({ defaultHook: refuseInvalid });
  // Ahead of everything else: these answer without passing through the general middleware.
  mountPayments(app, { edge, facilitator });
  if (agents) mountAgentDoor(app, edge, agents);

  app.use(requestContext(edge), securityHeaders(baseUrl), rateHeaders, refuseNul);
  app.onError(onError);
  app.notFound(answerNotFound(app));
  for (const path of ["/x402/*", ...pagePaths, "/openapi.json", "/errors/*"]) app.use(path, openCors);
  for (const path of documentPaths) app.use(path, limitByAddress("document"));
  app.use("/v1/*", keyCors, echoVersion, privateAnswers, serviceVersion(later));

  const health = healthRoutes({ version, revision: currentOf(later), ready });
  app.openapiRoutes(health);
  app.openapiRoutes(errorRoutes);
  app.openapiRoutes(merchantRoutes(keys, { facilitator }));
  app.openapiRoutes(customerRoutes());
  app.openapiRoutes(rateRoutes(pricing));
  app.openapiRoutes(quoteRoutes(pricing));
  app.openapiRoutes(catalogRoutes());
  app.openapiRoutes(resourceRoutes(shop));
  app.openapiRoutes(paymentIntentRoutes(intentDesk));
  app.openapiRoutes(cartRoutes(intentDesk));
  app.openapiRoutes(clearingRoutes(clearing));
  app.openapiRoutes(paymentRoutes({ ...clearing, refunds: refundedOf }));
  app.openapiRoutes(refundRoutes({ facilitator }));
  app.openapiRoutes(paymentLinkRoutes(intentDesk));
  app.openapiRoutes(payoutRoutes(till));
  const documents = { facilitator, baseUrl, key: proofKey(masterSecret) };
  app.openapiRoutes(documentRoutes(documents));
  app.openapiRoutes(webhookRoutes(post));
  app.openapiRoutes(invoiceRoutes(invoices));
  app.openapiRoutes(subscriptionRoutes(invoices));
  app.openapiRoutes(callbackRoutes({ providers, clock }));
  if (sandbox) app.openapiRoutes(sandboxRoutes({ ...sandbox, facilitator, machine: clock }));
  app.openapiRoutes(x402Routes({ facilitator, baseUrl }));
  app.openapiRoutes([payableIndex({ facilitator })] as const);
  const ofLinks = linkIntents(intentDesk);
  mountAgentUrl(app, {
    ...{ facilitator, baseUrl },
    derive: async (c, ask) => {
      if (isId("plink", ask.id)) return ofLinks(c, ask);
      return isId("inv", ask.id) ? deriveInvoiceIntent(invoices, ask) : null;
    },
  });
  mountDocuments(app, { facilitator, baseUrl });
  const refunds = {
    ...{ db, facilitator, baseUrl, newId, now, machineNow: () => clock.now() },
    nonces: noncesOf(masterSecret, systemRandom),
  };
  const testPayer = sandbox ? { ...sandbox, facilitator, clock } : null;
  const hosted = { clearing, intents: intentDesk, invoices, refunds, testPayer, edge, baseUrl, clock };
  const pages = mountPages(app, hosted);
  const sessions = { db, clock, random: systemRandom, newId };
  const standIn = createStandIn({ db, clock: merchantClock });
  const desk = {
    ...{ clearing, facilitator, documents, links: intentDesk, invoices, refunds: { facilitator } },
    ...{ shop, till, keys, post, apiVersion: currentOf(later) },
  };
  mountDashboard(app, desk, { edge, sessions, standIn });
  describePayments(app);
  describeAgentUrl(app);
  mountProofKey(app, documents);
  describeEvents(app, families);
  mountReference(app, addDocument(app, { baseUrl, version }));
  const jobs = [
    ...requestJobs({ db, clock: merchantClock }),
    ...dashboardJobs({ db, clock }),
    whenTermsChange("publish-intents-again", (id, stopping) => republishIntents(intentDesk, id, stopping)),
    whenTermsChange("publish-links-again", (id, stopping) => republishLinks(intentDesk, id, stopping)),
    whenTermsChange("publish-invoices-again", (id, stopping) => republishInvoices(invoices, id, stopping)),
    ...resourceJobs({ db, facilitator, safeFetch, clock, log }),
    ...subscriptionJobs({ db, newId, now }),
    ...providerJobs(providerDesk),
    ...webhookJobs({ db: loopDb, now }),
    ...(mailDesk ? mailJobs(mailDesk) : []),
  ];
  const probes = new OpenAPIHono();
  probes.use(requestContext(edge), securityHeaders(baseUrl), rateHeaders);
  probes.onError(onError);
  probes.notFound(answerNotFound(probes));
  probes.openapiRoutes(health);
  return {
    app,
    probes,
    jobs,
    loops: [
      ...clearingLoops({ ...clearing, db: loopDb }),
      ...invoiceLoops({ ...invoices, db: loopDb }),
      ...subscriptionLoops({ ...invoices, db: loopDb }),
      refundLoop({ db: loopDb, facilitator, clock: merchantClock, newId, log }),
      ...(providers.size > 0 ? [providerLoop({ ...providerDesk, db: loopDb })] : []),
      courier,
    ],
    drain: pages.drain,
    hearers: [
      clearingHearer(clearing, merchantTeller(telling)),
      linkHearer(clearing),
      refundHearer({ clock: merchantClock }),
      invoiceHearer(invoices),
      subscriptionHearer(invoices),
      providerHearer(providerDesk),
      payoutHearer({ newId }),
      webhookHearer({ ...telling, families }),
      ...(mailDesk ? [mailHearer(mailDesk)] : []),
    ],
  };
}
