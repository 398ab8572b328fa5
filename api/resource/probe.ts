import { type Challenge, type RailFacts, readChallenge } from "#facilitator";
import type { Money } from "#kernel/money";
import type { SafeFetch } from "../http/safe-fetch.ts";
import {
  type Asking,
  compareOptions,
  type Endpoint,
  type Finding,
  inputSchema,
  type Probed,
  unanswered,
} from "./finding.ts";
import { amountOn, offeredRails, type ResourceRow } from "./present.ts";
import { mcpToolOf, probeMcp } from "./probe-mcp.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof METHODS)[number];
/** What a request with one of these overwrites or takes away needs neither a body nor a payment to be gone. */
const CHANGING: readonly Method[] = ["PUT", "PATCH", "DELETE"];
const IN_TIME = "Answer 402 before doing any work.";
const NO_SUCH_METHOD: readonly number[] = [404, 405];

/** The options that a 402 of this endpoint should offer. */
export function optionsOf(price: Money, chosen: ResourceRow["rails"], taken: readonly RailFacts[]) {
  return offeredRails(price, chosen, taken).map((rail) => ({
    network: rail.network as string,
    asset: rail.contract,
    payTo: rail.payTo,
    amount: amountOn(price, rail).toString(),
  }));
}

/** Asks an endpoint for its price as every indexer does: unpaid, with an empty body; a tool of an MCP server by MCP.
 *  Source: agents.md §6.4. */
export function probeEndpoint(fetch: SafeFetch, endpoint: Endpoint, asking: Asking): Promise<Probed> {
  const tool = mcpToolOf(endpoint.extensions);
  return tool ? probeMcp(fetch, endpoint, { tool, ...asking }) : probeHttp(fetch, endpoint, asking);
}

async function probeHttp(
  fetch: SafeFetch,
  endpoint: Endpoint,
  { isOwnHost, stopping }: Asking,
): Promise<Probed> {
  const declared = methodOf(endpoint.extensions);
  const withheld = declared && CHANGING.includes(declared) && !(await isOwnHost()) ? declared : null;
  const ask = (method: Method) =>
    fetch(endpoint.url, {
      method,
      headers: { accept: "application/json" },
      ...(stopping ? { signal: stopping } : {}),
    });
  const first = await ask(withheld ? "GET" : (declared ?? "GET"));
  // Nobody said which method is sold, and GET is not.
  const isPostOnly = declared === null && first.ok && NO_SUCH_METHOD.includes(first.status);
  const answer = isPostOnly ? await ask("POST") : first;
  const missing = inputSchema(endpoint);
  if (!answer.ok)
    return {
      status: null,
      ok: false,
      challenge: null,
      findings: [unanswered(answer.problem, endpoint.url, IN_TIME), ...missing],
    };
  const challenge = readChallenge(answer.headers.get("payment-required") ?? "");
  const wrong = answer.status === 402 ? compare(endpoint, challenge) : [not402(answer.status, withheld)];
  return { status: answer.status, ok: wrong.length === 0, challenge, findings: [...wrong, ...missing] };
}

function methodOf(extensions: ResourceRow["extensions"]): Method | null {
  const { bazaar } = extensions as { bazaar?: { info?: { input?: { method?: unknown } } } };
  return METHODS.find((method) => method === bazaar?.info?.input?.method) ?? null;
}

function compare(endpoint: Endpoint, challenge: Challenge | null): readonly Finding[] {
  if (challenge === null)
    return [
      {
        code: "probe_no_challenge",
        detail:
          "The 402 has no header PAYMENT-REQUIRED that clients can read. Send base64 of a version 2 PaymentRequired; a body alone is version 1.",
      },
    ];
  const url: Finding[] =
    challenge.url === endpoint.url
      ? []
      : [
          {
            code: "probe_url_mismatch",
            detail: `The 402 names another URL as its resource. Set it to ${endpoint.url} in the server's route configuration (\`resource\`), or register the URL it names.`,
          },
        ];
  return [...url, ...compareOptions("402", endpoint.options, challenge.options)];
}

function not402(status: number, withheld: Method | null): Finding {
  if (withheld)
    return {
      code: "probe_method_withheld",
      detail: `${withheld} is sent only to a host that names its merchant. GET was sent instead and answered ${status}. Put the merchant id into /.well-known/x402 of the host (merchantId), or answer GET with 402 as well.`,
    };
  return {
    code: "probe_not_402",
    detail: `An unpaid request with an empty body was answered ${status}, expected 402. ${advice(status)}`,
  };
}

function advice(status: number): string {
  if (status >= 200 && status < 300)
    return "The content is given away: put the payment check before the handler.";
  if (status >= 300 && status < 400)
    return "Redirects are not followed: register the URL that answers itself.";
  if (status === 400 || status === 422) return "Check the payment before the parameters of the request.";
  if (status === 401 || status === 403)
    return "Check the payment before any key or login; agents bring none.";
  if (status === 404 || status === 405)
    return "Register the exact URL, and declare its method in the bazaar extension.";
  if (status === 429) return "Let unpaid requests through: indexers ask from few addresses.";
  return "Answer 402 to every request without a payment.";
}
