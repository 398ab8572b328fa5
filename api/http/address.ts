import ipaddr from "ipaddr.js";

/** Addresses that a deployment on a local chain alone may reach besides public ones. */
const localRanges: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal", "carrierGradeNat"]);
/** IPv6 that is handed out for hosts. ipaddr.js calls everything it has no name for unicast, `::7f00:1` included. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Whether an outgoing request may dial this address, given as text that names one in the usual form. Everything
 *  but global unicast is refused: loopback, private, link-local and metadata, shared, multicast, reserved, and IPv4
 *  inside IPv6 in whatever form. */
export function isDialable(address: string, { allowLocal }: { readonly allowLocal: boolean }): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (allowLocal && localRanges.has(range)) return true;
  if (range !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(globalUnicast);
}

/** The address that a URL's host is, or null when it is a name. The URL parser has by then turned every spelling of an
 *  IPv4 address (octal, hex, decimal, short, with a dot at its end) into the dotted one. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(bare) ? bare : null;
}
