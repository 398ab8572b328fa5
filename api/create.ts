import { OpenAPIHono } from "@hono/zod-openapi";
import { isId } from "#kernel/id";
import { systemRandom } from "#kernel/system";
import { cartRoutes } from "./cart/routes.ts";
import { catalogRoutes } from "./catalog/routes.ts";
import type { MoneyLoop } from "./clearing/loop.ts";
import { clearingRoutes } from "./clearing/routes.ts";
import { customerRoutes } from "./customer/routes.ts";
import { mountDashboard } from "./dashboard/routes.ts";
import type { ApiDeps } from "./deps.ts";
import { type Desks, openDesks } from "./desks.ts";
import { documentRoutes, mountProofKey } from "./documents/routes.ts";
import { healthRoutes } from "./health.ts";
import { keyCors } from "./http/cors.ts";
import { errorRoutes } from "./http/errors.ts";
import { openCors, privateAnswers, securityHeaders } from "./http/headers.ts";
import type { Job } from "./http/job.ts";
import { limitByAddress, rateHeaders } from "./http/limit.ts";
import { refusingBodies } from "./http/no-body.ts";
import { refusingFilters } from "./http/no-query.ts";
import { answerNotFound } from "./http/not-found.ts";
import { refuseNul } from "./http/nul.ts";
import { onError } from "./http/problem.ts";
import { requestContext } from "./http/request-id.ts";
import { refuseInvalid } from "./http/route.ts";
import { currentOf, echoVersion, serviceVersion } from "./http/version.ts";
import { invoiceRoutes } from "./invoice/routes.ts";
import { deriveIntent as deriveInvoiceIntent } from "./invoice/verbs/derive.ts";
import { createStandIn } from "./merchant/authenticate.ts";
import { merchantRoutes } from "./merchant/routes.ts";
import { addDocument } from "./openapi.ts";
import { mountPages } from "./pages/routes.tsx";
import { paymentRoutes } from "./payment/routes.ts";
import { paymentIntentRoutes } from "./payment-intent/routes.ts";
import { linkIntents } from "./payment-link/agents.ts";
import { paymentLinkRoutes } from "./payment-link/routes.ts";
import { payoutRoutes } from "./payout/routes.ts";
import { callbackRoutes, sandboxRoutes } from "./provider/routes.ts";
import { quoteRoutes } from "./quote/routes.ts";
import { rateRoutes } from "./rate/routes.ts";
import { mountReference } from "./reference/routes.tsx";
import { refundRoutes } from "./refund/routes.ts";
import { noncesOf } from "./refund/siwe.ts";
import { refundedOf } from "./refund/verbs/refunded.ts";
import { resourceRoutes } from "./resource/routes.ts";
import { subscriptionRoutes } from "./subscription/routes.ts";
import { buyerOf } from "./subscription/verbs/billed.ts";
import { describeEvents } from "./webhook/describe.ts";
import { webhookRoutes } from "./webhook/routes.ts";
import { type Hearer, hearersOf, jobsOf, loopsOf } from "./work.ts";
import { mountAgentUrl, pagePaths } from "./x402/agent-url.ts";
import { describeAgentUrl } from "./x402/agent-url-document.ts";
import { mountAgentDoor } from "./x402/agents.ts";
import { mountDocuments } from "./x402/documents.ts";
import { payableIndex } from "./x402/payable-index.ts";
import { mountPayments } from "./x402/payments.ts";
import { describePayments, x402Routes } from "./x402/routes.ts";

interface Api {
  readonly app: OpenAPIHono;
  /** Health alone, for a process that only runs what goes on apart from requests. */
  readonly probes: OpenAPIHono;
  readonly jobs: readonly Job[];
  readonly loops: readonly MoneyLoop[];
  readonly hearers: readonly Hearer[];
  /** Ends what browsers keep open: this process is about to stop. */
  readonly drain: () => void;
}

/** Everything HTTP, as one app that listens nowhere. Source: interface §4. */
export function createApi(deps: ApiDeps): Api {
  const desks = openDesks(deps);
  const { edge, baseUrl, later } = desks;
  const { version } = deps.config;
  const app = new OpenAPIHono({ defaultHook: refuseInvalid });
  // Ahead of everything else: these answer without passing through the general middleware.
  mountPayments(app, { edge, facilitator: deps.facilitator });
  if (deps.agents) mountAgentDoor(app, edge, deps.agents);
  mountManners(app, desks);
  const health = healthRoutes({ version, revision: currentOf(later), ready: deps.ready });
  app.openapiRoutes(health);
  mountMerchantApi(app, deps, desks);
  mountX402(app, deps, desks);
  const drain = mountForPeople(app, deps, desks);
  describePayments(app);
  describeAgentUrl(app);
  mountProofKey(app, desks.documents);
  describeEvents(app, desks.families);
  mountReference(app, addDocument(app, { baseUrl, version }));

  const probes = new OpenAPIHono();
  probes.use(requestContext(edge), securityHeaders(baseUrl), rateHeaders);
  probes.onError(onError);
  probes.notFound(answerNotFound(probes));
  probes.openapiRoutes(health);
  return {
    ...{ app, probes, drain },
    jobs: jobsOf(deps, desks),
    loops: loopsOf(deps, desks),
    hearers: hearersOf(deps, desks),
  };
}

/** Read by anybody, the same for everybody. */
const documentPaths = ["/docs/*", "/openapi.json", "/errors/*", "/llms.txt", "/.well-known/ai-catalog.json"];

/** What holds for every answer, and for all of a kind. */
function mountManners(app: OpenAPIHono, { edge, baseUrl, later }: Desks): void {
  app.use(requestContext(edge), securityHeaders(baseUrl), rateHeaders, refuseNul);
  app.onError(onError);
  app.notFound(answerNotFound(app));
  for (const path of ["/x402/*", ...pagePaths, "/openapi.json", "/errors/*"]) app.use(path, openCors);
  for (const path of documentPaths) app.use(path, limitByAddress("document"));
  app.use("/v1/*", keyCors, echoVersion, privateAnswers, serviceVersion(later));
}

function mountMerchantApi(app: OpenAPIHono, { facilitator, clock, sandbox }: ApiDeps, desks: Desks): void {
  const { pricing, intents, clearing, invoices, providers } = desks;
  const mount = (routes: Parameters<typeof app.openapiRoutes>[0]) =>
    app.openapiRoutes(refusingFilters(refusingBodies(routes)));
  mount(errorRoutes);
  mount(merchantRoutes(desks.keys, { facilitator }));
  mount(customerRoutes());
  mount(rateRoutes(pricing));
  mount(quoteRoutes(pricing));
  mount(catalogRoutes());
  mount(resourceRoutes(desks.shop));
  mount(paymentIntentRoutes(intents));
  mount(cartRoutes(intents));
  mount(clearingRoutes(clearing));
  mount(paymentRoutes({ ...clearing, refunds: refundedOf, buyers: buyerOf }));
  mount(refundRoutes({ facilitator }));
  mount(paymentLinkRoutes(intents));
  mount(payoutRoutes(desks.till));
  mount(documentRoutes(desks.documents));
  mount(webhookRoutes(desks.post));
  mount(invoiceRoutes({ ...invoices, buyers: buyerOf }));
  mount(subscriptionRoutes(invoices));
  mount(callbackRoutes({ providers, clock }));
  if (sandbox) mount(sandboxRoutes({ ...sandbox, facilitator, machine: clock }));
}

function mountX402(app: OpenAPIHono, { facilitator }: ApiDeps, { baseUrl, intents, invoices }: Desks): void {
  app.openapiRoutes(x402Routes({ facilitator, baseUrl }));
  app.openapiRoutes([payableIndex({ facilitator })] as const);
  const ofLinks = linkIntents(intents);
  mountAgentUrl(app, {
    ...{ facilitator, baseUrl },
    derive: async (c, ask) => {
      if (isId("plink", ask.id)) return ofLinks(c, ask);
      return isId("inv", ask.id) ? deriveInvoiceIntent(invoices, ask) : null;
    },
  });
  mountDocuments(app, { facilitator, baseUrl });
}

/** Hosted pages and the dashboard. Answers what ends the pages' streams. */
function mountForPeople(app: OpenAPIHono, deps: ApiDeps, desks: Desks): () => void {
  const { db, facilitator, clock, newId, sandbox, config } = deps;
  const { baseUrl, edge, clearing, intents, invoices, merchantClock, now, telling } = desks;
  const { documents, shop, till, keys, post } = desks;
  const refunds = {
    ...{ db, facilitator, baseUrl, newId, now, machineNow: () => clock.now() },
    nonces: noncesOf(config.masterSecret, systemRandom),
  };
  const testPayer = sandbox ? { ...sandbox, facilitator, clock } : null;
  const hosted = { clearing, intents, invoices, refunds, testPayer, edge, baseUrl, clock };
  const { drain } = mountPages(app, hosted);
  const sessions = { db, clock, random: systemRandom, newId };
  const standIn = createStandIn({ db, clock: merchantClock });
  const desk = {
    ...{ clearing, facilitator, documents, links: intents, invoices, refunds: { facilitator } },
    ...{ shop, till, keys, post, apiVersion: telling.apiVersion },
  };
  mountDashboard(app, desk, { edge, sessions, standIn });
  return drain;
}
