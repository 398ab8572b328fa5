/** The few calls that a payment takes, written out: a library for them would be most of the page. A test compares each
 *  with viem's. */

const word = (value: bigint | string) =>
  (typeof value === "bigint" ? value.toString(16) : value.replace(/^0x/, "").toLowerCase()).padStart(64, "0");

const call = (selector: string, ...words: readonly string[]) => `0x${selector}${words.join("")}`;

export const transferCall = (to: string, amount: bigint) => call("a9059cbb", word(to), word(amount));
export const approveCall = (spender: string, amount: bigint) => call("095ea7b3", word(spender), word(amount));
export const allowanceCall = (owner: string, spender: string) => call("dd62ed3e", word(owner), word(spender));
export const balanceCall = (owner: string) => call("70a08231", word(owner));

/** The router's order, as the page's `order` answers. */
export interface SignedOrder {
  readonly router: string;
  readonly order: {
    readonly paymentRef: string;
    readonly token: string;
    readonly payTo: string;
    readonly amount: string;
    readonly deadline: string;
  };
  readonly signature: string;
}

const HEAD_BYTES = 6n * 32n;

/** `pay((bytes32,address,address,uint256,uint256),bytes)`. */
export function payCall({ order, signature }: SignedOrder): string {
  const bytes = signature.replace(/^0x/, "");
  const { paymentRef, token, payTo, amount, deadline } = order;
  const terms = [word(paymentRef), word(token), word(payTo), word(BigInt(amount)), word(BigInt(deadline))];
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0");
  return call(PAY, ...terms, word(HEAD_BYTES), word(BigInt(bytes.length / 2)), padded);
}
const PAY = "1de7eaed";
