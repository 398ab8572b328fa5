import { BlockList, isIP } from "node:net";
import { payableUrl } from "#facilitator";
import { fault } from "../http/faults.ts";

const local = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const)
  local.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  local.addSubnet(net, bits, "ipv6");

/** The URL of an endpoint as it is registered and found again: scheme, host and path. Names that resolve to a private
 *  address are not seen here; whoever fetches a registered URL checks the address it dials. Fault: `url_not_allowed`. */
export function resourceUrl(
  text: string,
  { allowLocalTargets }: { readonly allowLocalTargets: boolean },
): string {
  const refuse = (why: string) => fault("url_not_allowed", { why, pointer: "/url" });
  const found = payableUrl(text);
  if (found === null) throw refuse("it must be an absolute http(s) URL without a user name");
  if (text.includes("?") || text.includes("#")) throw refuse("it must have neither a query nor a fragment");
  const { protocol, hostname } = new URL(found);
  if (allowLocalTargets) return found;
  if (protocol !== "https:") throw refuse("it must be https");
  if (isLocalHost(hostname)) throw refuse("its host is not public");
  return found;
}

function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const family = isIP(host);
  if (family === 4) return local.check(host, "ipv4");
  if (family === 6) return local.check(host, "ipv6");
  return !host.includes(".") || /\.(?:localhost|local|internal|home\.arpa)$/.test(host);
}
