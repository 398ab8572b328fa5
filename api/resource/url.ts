import { agentUrl, payableUrl } from "#facilitator";
import { isDialable, literalAddress } from "../http/address.ts";
import { fault } from "../http/faults.ts";

interface Place {
  /** Of this service. */
  readonly baseUrl: string;
  readonly allowLocalTargets: boolean;
}

/** The URL of an endpoint as it is registered and found again: scheme, host and path. Names that resolve to a private
 *  address are not seen here; whoever fetches a registered URL checks the address it dials. Fault: `url_not_allowed`. */
export function resourceUrl(text: string, { baseUrl, allowLocalTargets }: Place): string {
  const refuse = (why: string) => fault("url_not_allowed", { why, pointer: "/url" });
  const found = payableUrl(text);
  if (found === null)
    throw refuse(
      "it must be an absolute http(s) URL without a user name, of 2048 characters at most, escapes included",
    );
  if (text.includes("?") || text.includes("#")) throw refuse("it must have neither a query nor a fragment");
  // One that is closed leaves its URL free, and could not be opened again while somebody else has it.
  if (found.startsWith(agentUrl(baseUrl, ""))) throw refuse("links, invoices and intents are paid there");
  const { protocol, hostname } = new URL(found);
  if (allowLocalTargets) return found;
  if (protocol !== "https:") throw refuse("it must be https");
  if (isLocalHost(hostname)) throw refuse("its host is not public");
  return found;
}

function isLocalHost(hostname: string): boolean {
  const literal = literalAddress(hostname);
  if (literal !== null) return !isDialable(literal, { allowLocal: false });
  const name = hostname.replace(/\.$/, "");
  return !name.includes(".") || /\.(?:localhost|local|internal|home\.arpa)$/.test(name);
}
