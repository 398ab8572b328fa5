import { type Challenge, type RailFacts, readChallenge } from "#facilitator";
import { parseAddress } from "#kernel/bytes";
import type { Money } from "#kernel/money";
import type { FetchProblem, SafeFetch } from "../http/safe-fetch.ts";
import { amountOn, offeredRails, type ResourceRow } from "./present.ts";

/** Something that is wrong with an endpoint, or would keep agents away from it: what to change. */
export interface Finding {
  readonly code: FindingCode;
  readonly detail: string;
}
export const findingCodes = [
  "probe_not_402",
  "probe_method_withheld",
  "probe_no_challenge",
  "probe_option_missing",
  "probe_price_mismatch",
  "probe_pay_to_mismatch",
  "probe_url_mismatch",
  "probe_target_changed",
  "probe_schema_changed",
  "probe_timeout",
  "probe_unreachable",
  "probe_blocked_address",
  "probe_deferred",
  "input_schema_missing",
] as const;
export type FindingCode = (typeof findingCodes)[number];

/** An endpoint as it was registered, or is about to be. */
export interface Endpoint {
  readonly url: string;
  readonly extensions: ResourceRow["extensions"];
  readonly options: readonly EndpointOption[];
}
interface EndpointOption {
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  readonly amount: string;
}
export interface Probed {
  /** Null when no answer came. */
  readonly status: number | null;
  /** Whether an agent could pay here what was registered. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly challenge: Challenge | null;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof METHODS)[number];
/** What a request with one of these overwrites or takes away needs neither a body nor a payment to be gone. */
const CHANGING: readonly Method[] = ["PUT", "PATCH", "DELETE"];
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

interface Asking {
  /** Whether the host names the merchant. Anybody may register anybody's URL, so only such a host is sent a method that
   *  changes something, and only then is this asked. */
  readonly isOwnHost: () => Promise<boolean>;
  readonly stopping?: AbortSignal;
}

/** Asks an endpoint for its price as every indexer does: unpaid, with an empty body. Source: agents.md §6.4. */
export async function probeEndpoint(
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
      findings: [unanswered(answer.problem, endpoint.url), ...missing],
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
  return [...url, ...compareOptions(endpoint.options, challenge.options)];
}

/** One option that fits is enough; else the nearest one tells what is wrong. */
function compareOptions(
  expected: readonly EndpointOption[],
  offered: Challenge["options"],
): readonly Finding[] {
  const pairs = expected.flatMap((ours) =>
    offered
      .filter(
        ({ scheme, network, asset }) =>
          scheme === "exact" && network === ours.network && isSame(asset, ours.asset),
      )
      .map((theirs) => ({
        ours,
        isPrice: theirs.amount === ours.amount,
        isPayee: isSame(theirs.payTo, ours.payTo),
      })),
  );
  if (pairs.some(({ isPrice, isPayee }) => isPrice && isPayee)) return [];
  const nearest = pairs.find(({ isPayee }) => isPayee) ?? pairs[0];
  if (!nearest) return [optionMissing(expected)];
  const { ours, isPrice, isPayee } = nearest;
  return [...(isPrice ? [] : [priceMismatch(ours)]), ...(isPayee ? [] : [payeeMismatch(ours)])];
}

function isSame(address: string, ours: string): boolean {
  return parseAddress(address) === parseAddress(ours);
}

function optionMissing([first]: readonly EndpointOption[]): Finding {
  const example = first ? ` Offer scheme exact on ${first.network} with the asset ${first.asset}.` : "";
  return {
    code: "probe_option_missing",
    detail: `No option of the 402 is on a network and asset of the registration.${example}`,
  };
}

function priceMismatch({ amount, network }: EndpointOption): Finding {
  return {
    code: "probe_price_mismatch",
    detail: `The 402 asks another amount than was registered. Ask for ${amount} atomic units on ${network}, or register the new price.`,
  };
}

function payeeMismatch({ payTo, network }: EndpointOption): Finding {
  return {
    code: "probe_pay_to_mismatch",
    detail: `The 402 pays somebody else, so nothing of it could be settled here. Set payTo to ${payTo} on ${network}.`,
  };
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

function unanswered(problem: FetchProblem, url: string): Finding {
  switch (problem) {
    case "timeout":
      return {
        code: "probe_timeout",
        detail: "No answer within 10 seconds. Answer 402 before doing any work.",
      };
    case "unreachable":
      return {
        code: "probe_unreachable",
        detail: `Nobody could be reached at ${new URL(url).host}. Check its name, its certificate, and that it is open to the internet.`,
      };
    case "blocked-address":
      return {
        code: "probe_blocked_address",
        detail: "The host does not lead to a public address. Register one that agents can reach.",
      };
    case "url-not-allowed":
      return {
        code: "probe_blocked_address",
        detail: "Only https on port 443 or 8443, without a user name, is asked. Register such a URL.",
      };
  }
}

function inputSchema({ extensions }: Endpoint): readonly Finding[] {
  if (extensions.bazaar !== undefined) return [];
  return [
    {
      code: "input_schema_missing",
      detail:
        "Without extensions.bazaar agents do not know what to send: a paid call may be malformed. Register info.input with a schema.",
    },
  ];
}
