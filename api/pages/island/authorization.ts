/** A payment by signature: the EIP-3009 authorization that x402 carries. */

/** One way to pay, as the 402 offers it. */
export interface Option {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}
export interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

/** Good for as long as the option allows, by the server's clock; its nonce is new. */
export function authorizationOf(option: Option, from: string, nowMs: number): Authorization {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const nonce = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return {
    from,
    to: option.payTo,
    value: option.amount,
    validAfter: "0",
    validBefore: String(Math.floor(nowMs / 1_000) + option.maxTimeoutSeconds),
    nonce: `0x${nonce}`,
  };
}

const field = (type: string, name: string) => ({ name, type });

/** What the wallet shows and signs (`eth_signTypedData_v4`). */
export function typedData(option: Option, chainId: number, message: Authorization) {
  return {
    types: {
      EIP712Domain: [
        field("string", "name"),
        field("string", "version"),
        field("uint256", "chainId"),
        field("address", "verifyingContract"),
      ],
      TransferWithAuthorization: [
        field("address", "from"),
        field("address", "to"),
        field("uint256", "value"),
        field("uint256", "validAfter"),
        field("uint256", "validBefore"),
        field("bytes32", "nonce"),
      ],
    },
    primaryType: "TransferWithAuthorization",
    domain: {
      name: option.extra.name,
      version: option.extra.version,
      chainId,
      verifyingContract: option.asset,
    },
    message,
  };
}

/** An object as a payment header carries it. */
export function toHeader(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(String.fromCharCode(...bytes));
}

export function fromHeader<T>(header: string): T {
  const bytes = Uint8Array.from(atob(header), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}
