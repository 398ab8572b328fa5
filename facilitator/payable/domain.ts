import { getDomain } from "tldts";

/** Whose address a URL is: the registrable domain (`api.shop.co.uk` is `shop.co.uk`), where a public platform gives
 *  names to its users the name it gave (`shop.vercel.app`), and for an address or a local name the host with its port. */
export function registrableDomain(url: string): string {
  const { hostname, host } = new URL(url);
  return getDomain(hostname, { allowPrivateDomains: true }) ?? host;
}
