import type { Assets } from "../assets.ts";
import type { Checkout } from "../verbs/checkout.ts";
import type { Speech } from "../words/index.ts";

/** What the parts of the checkout page are made from. */
export interface CheckoutProps extends Checkout {
  readonly speech: Speech;
  readonly assets: Assets;
  readonly isChoosing: boolean;
  /** Why the payer is here again: a key of the words. */
  readonly problem: Parameters<Speech["say"]>[0] | null;
}
