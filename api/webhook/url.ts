import { isDialable, literalAddress } from "../http/address.ts";
import { fault } from "../http/faults.ts";
import { MAX_URL } from "../http/safe-fetch.ts";

const PORTS: ReadonlySet<string> = new Set(["", "443", "8443"]);
const LOCAL_NAME = /\.(?:localhost|local|internal|home\.arpa)$/;

/** The address of an endpoint as it will be called. Names that resolve to a private address are not seen here: each
 *  delivery checks the address it dials. Fault: `url_not_allowed`. */
export function webhookUrl(
  text: string,
  { allowLocalTargets }: { readonly allowLocalTargets: boolean },
): string {
  const refuse = (why: string) => fault("url_not_allowed", { why, pointer: "/url" });
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw refuse("it must be an absolute http(s) URL");
  if (url.username !== "" || url.password !== "") throw refuse("it must not carry a user name");
  if (url.hash !== "") throw refuse("it must not have a fragment");
  if (url.href.length > MAX_URL)
    throw refuse(`it must not be longer than ${MAX_URL} characters, escapes included`);
  if (allowLocalTargets) return url.href;
  if (url.protocol !== "https:") throw refuse("it must be https");
  if (!PORTS.has(url.port)) throw refuse("its port must be 443 or 8443");
  if (isLocalHost(url.hostname)) throw refuse("its host is not public");
  return url.href;
}

function isLocalHost(hostname: string): boolean {
  const literal = literalAddress(hostname);
  if (literal !== null) return !isDialable(literal, { allowLocal: false });
  const name = hostname.replace(/\.$/, "");
  return !name.includes(".") || LOCAL_NAME.test(name);
}
