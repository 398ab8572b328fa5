import { type Challenge, readRequired } from "#facilitator";
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
import { type Failure, McpFailure, type McpSession, type ToolAnswer, withMcp } from "./mcp-session.ts";

/** A tool of an MCP server, as the bazaar block of its registration declares it. */
interface McpTool {
  readonly name: string;
  /** Arguments of a call, where the merchant gives an example. */
  readonly example: Arguments | null;
}
type Arguments = Readonly<Record<string, unknown>>;

interface Found {
  readonly status: number | null;
  readonly challenge: Challenge | null;
  readonly wrong: readonly Finding[];
}
const ASKED = 402;

/** Null for what is sold over plain HTTP. */
export function mcpToolOf(extensions: Endpoint["extensions"]): McpTool | null {
  const { bazaar } = extensions as { bazaar?: { info?: { input?: Readonly<Record<string, unknown>> } } };
  const { type, toolName, example } = bazaar?.info?.input ?? {};
  if (type !== "mcp" || typeof toolName !== "string") return null;
  return { name: toolName, example: isObject(example) ? example : null };
}

/** Asks a tool for its price as agents do: in a session of MCP, by a call without payment. Source: agents.md §4, §6.4. */
export async function probeMcp(
  fetch: SafeFetch,
  endpoint: Endpoint,
  { tool, isOwnHost, stopping }: Asking & { readonly tool: McpTool },
): Promise<Probed> {
  const isOwn = await isOwnHost();
  const place = { fetch, url: endpoint.url, ...(stopping ? { stopping } : {}) };
  const { status, challenge, wrong } = await withMcp(place, (session) =>
    askPrice(session, endpoint, { tool, isOwn }),
  ).catch((error) => foundBy(error, endpoint));
  return { status, challenge, ok: wrong.length === 0, findings: [...wrong, ...inputSchema(endpoint)] };
}

/** A tool that asks for no money does what it does, and what that is its name does not tell: one that takes no arguments
 *  may well be there to take something away. Anybody may register anybody's server, so a tool is called where the host
 *  names the merchant, or where the server itself says of the tool that it changes nothing. */
async function askPrice(
  session: McpSession,
  endpoint: Endpoint,
  { tool, isOwn }: { readonly tool: McpTool; readonly isOwn: boolean },
): Promise<Found> {
  if (!isOwn) {
    const listed = await session.find(tool.name);
    if (!listed) return bad(noSuchTool);
    if (!listed.isReadOnly) return bad(withheld);
  }
  const first = await session.call(tool.name, {});
  // Stock servers compare arguments with the tool's schema before its handler, and with it the payment, is reached.
  const answer = tool.example && isRefusal(first) ? await session.call(tool.name, tool.example) : first;
  if (!isRefusal(answer)) return judge(answer, endpoint);
  const listed = await session.find(tool.name).catch(() => undefined);
  return bad(listed === null ? noSuchTool : refused(tool));
}

function isRefusal(answer: ToolAnswer): boolean {
  return answer.isError === true && !asksForMoney(answer);
}

/** In whatever form. */
function asksForMoney(answer: ToolAnswer): boolean {
  return answer.code === ASKED || isObject(answer._meta?.["x402/error"]) || requiredIn(answer).length > 0;
}

/** What looks like a PaymentRequired, in the places where clients look for it. */
function requiredIn({ structuredContent, content }: ToolAnswer): readonly unknown[] {
  const [first] = content;
  const text = first?.type === "text" ? parsed(first.text) : null;
  return [structuredContent, text].filter((value) => isObject(value) && Array.isArray(value.accepts));
}

function judge(answer: ToolAnswer, endpoint: Endpoint): Found {
  if (!asksForMoney(answer)) return bad(givenAway);
  const [challenge] = requiredIn(answer).flatMap((value) => readRequired(value) ?? []);
  if (!challenge || answer.isError !== true)
    return { status: ASKED, challenge: null, wrong: [challenge ? withoutIsError : noChallenge] };
  // The stock wrapper names the tool, by a name of its own making if it is told none (mcp://tool/paid_tool): what is no
  // URL of the web is taken for the registered one.
  const url = challenge.url ?? endpoint.url;
  const wrong = [
    ...(url === endpoint.url ? [] : [urlMismatch(endpoint.url)]),
    ...compareOptions("PaymentRequired of the tool", endpoint.options, challenge.options),
  ];
  return { status: ASKED, challenge: { ...challenge, url }, wrong };
}

function foundBy(error: unknown, endpoint: Endpoint): Found {
  if (!(error instanceof McpFailure)) throw error;
  const { failure } = error;
  if (failure.why === "unanswered") {
    const advice = "Let the tool ask for the payment before doing any work.";
    return { status: null, challenge: null, wrong: [unanswered(failure.problem, endpoint.url, advice)] };
  }
  return { status: failure.status, challenge: null, wrong: [noAnswer(failure)] };
}

function noAnswer(failure: Exclude<Failure, { readonly why: "unanswered" }>): Finding {
  if (failure.why === "refused") return failure.status === ASKED ? noChallenge : notServed(failure.status);
  if (failure.why === "too-long")
    return not402(
      "The MCP server answered with more than 64 kB. Ask for the payment first, and list tools in pages.",
    );
  return not402(
    "What is at the URL does not speak MCP. Register the URL of its Streamable HTTP endpoint, or declare input.type http.",
  );
}

function bad(finding: Finding): Found {
  return { status: 200, challenge: null, wrong: [finding] };
}

function not402(detail: string): Finding {
  return { code: "probe_not_402", detail };
}

const RESULT =
  "a result with isError: true that has a version 2 PaymentRequired in structuredContent and as JSON in content[0].text";

const givenAway = not402(
  "An unpaid call of the tool was answered without asking for money: it is given away. Put the payment check before its handler.",
);
const noSuchTool = not402(
  "The MCP server has no tool of this name in its tools/list. Register toolName exactly as it is listed there.",
);
const noChallenge: Finding = {
  code: "probe_no_challenge",
  detail: `The tool asks for money in a form that clients cannot read. Answer an unpaid tools/call with ${RESULT}.`,
};
const withoutIsError: Finding = {
  code: "probe_no_challenge",
  detail:
    "The PaymentRequired of the tool comes without isError, so clients take it for what was sold. Set isError to true.",
};
const withheld: Finding = {
  code: "probe_method_withheld",
  detail:
    "The tool was found but not called: that is done only where the host names its merchant, or the tool says that it changes nothing. Put the merchant id into /.well-known/x402 of the host (merchantId), or annotate the tool with readOnlyHint.",
};

function refused({ example }: McpTool): Finding {
  return not402(
    example
      ? "Unpaid calls with no arguments and with info.input.example were answered by an error without a PaymentRequired. Register an example that the tool's schema accepts, and check the payment before anything else."
      : "An unpaid call without arguments was answered by an error that has no PaymentRequired. Where the server checks arguments first, register info.input.example: it is sent then.",
  );
}

function urlMismatch(url: string): Finding {
  return {
    code: "probe_url_mismatch",
    detail: `The PaymentRequired of the tool names another URL as its resource. Set its resource.url to ${url}, or leave it out, and the stock wrapper names the tool.`,
  };
}

function notServed(status: number): Finding {
  return not402(`The MCP server answered ${status} to a client without a key. ${advice(status)}`);
}

function advice(status: number): string {
  if (status < 400) return "Redirects are not followed: register the URL that answers itself.";
  if (status === 401 || status === 403)
    return "Let clients initialize and call the tool without a key or login; agents bring none.";
  if (status === 404 || status === 405)
    return "Register the URL of its Streamable HTTP endpoint; the older SSE transport is not asked.";
  if (status === 429) return "Let unpaid calls through: indexers ask from few addresses.";
  return "Answer initialize and tools/call by Streamable HTTP, and ask for the payment in the result of the tool.";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
