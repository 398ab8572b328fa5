/** An agent without documentation: it knows how to sign an x402 challenge and how to call a URL, and beyond that uses
 *  only tool names, their schemas and each answer's `next`. */
import type { Payer } from "../support/house.ts";
import { type Agent, type ListedTool, signRequired } from "./world.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever the tools answered
type Facts = Record<string, any>;

const MAX_STEPS = 20;

/** Follows `next` from a search until it is told that it is done; returns the names of what it called, and the last
 *  answer. */
export async function followNext(
  agent: Agent,
  payer: Payer,
  start: { readonly tool: string; readonly args: object },
): Promise<{ readonly called: readonly string[]; readonly last: Facts }> {
  const tools = new Map((await agent.listTools()).map((tool) => [tool.name, tool]));
  const known: Facts = { ...start.args };
  const called: string[] = [];
  let name = start.tool;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const tool = tools.get(name);
    if (!tool) throw new Error(`the agent was sent to ${name}, which is not listed`);
    called.push(name);
    const { structuredContent: answer, isError, content } = await agent.call(name, fill(tool, known));
    if (isError || !answer) throw new Error(`${name}: ${content[0]?.text}`);
    learn(known, answer);
    const { action, tool: nextTool } = answer.next;
    if (known.paymentRequired && action === "sign") await sign(known, payer);
    if (action === "send-to-resource") await send(known);
    if (action === "done" && (nextTool === undefined || nextTool === name)) return { called, last: answer };
    if (nextTool === undefined) throw new Error(`${name} leaves the agent alone: ${answer.next.text}`);
    name = nextTool;
  }
  throw new Error("the agent goes round in circles");
}

function learn(known: Facts, answer: Facts): void {
  Object.assign(known, answer.items?.[0] ?? {}, answer);
}

async function sign(known: Facts, payer: Payer): Promise<void> {
  const payment = await signRequired(payer, known.paymentRequired);
  const { from, nonce } = payment.payload.authorization;
  const { network, asset } = payment.accepted;
  const mine = { payment, paymentPayload: payment, payer: from, nonce, network, asset };
  const isResource = String(known.id).startsWith("x402r_");
  Object.assign(known, mine, isResource ? { resourceId: known.id } : { payableId: known.id });
}

async function send(known: Facts): Promise<void> {
  const header = Buffer.from(JSON.stringify(known.payment)).toString("base64");
  const { method = "GET" } = known.callExample ?? {};
  const response = await fetch(known.url, { method, headers: { "PAYMENT-SIGNATURE": header } });
  if (!response.ok) throw new Error(`the resource answered ${response.status}`);
  known.delivered = await response.json();
}

/** What the schema asks for and the agent knows; of several ways to name one thing, the shortest. */
function fill({ inputSchema }: ListedTool, known: Facts): Facts {
  const names = Object.keys((inputSchema as { properties: object }).properties);
  const pick = (wanted: readonly string[]) =>
    Object.fromEntries(wanted.filter((key) => known[key] !== undefined).map((key) => [key, known[key]]));
  if (names.includes("id") && known.id !== undefined) return pick(["id"]);
  if (names.includes("paymentId") && known.paymentId !== undefined) return pick(["paymentId"]);
  return pick(names.filter((key) => !["transaction", "paymentRequirements", "url", "detail"].includes(key)));
}

/** Counts what passes between a client and the MCP endpoint. A token is taken for three characters: hex and JSON cost
 *  more than prose, which is nearer to four. */
export function meter() {
  const traffic = { characters: 0, messages: 0 };
  const spy: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const text = await response.clone().text();
    traffic.characters += text.length + String(init?.body ?? "").length;
    traffic.messages += 1;
    if (process.env.DBG)
      process.stdout.write(
        `${String(init?.body ?? "").length} ${text.length} ${String(init?.body ?? "").slice(0, 90)}\n${text.slice(0, 1500)}\n`,
      );
    return response;
  };
  return { spy, tokens: () => Math.ceil(traffic.characters / 3), messages: () => traffic.messages };
}
