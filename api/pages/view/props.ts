import type { Brand } from "../../merchant/verbs/brand.ts";
import type { Checkout } from "../verbs/checkout.ts";
import type { Speech } from "../words/index.ts";
import type { Dressed } from "./layout.tsx";

/** What the parts of the checkout page are made from. */
export interface CheckoutProps extends Checkout, Dressed {
  readonly brand: Brand;
  readonly isChoosing: boolean;
  /** A sandbox's own payer can send what is missing. */
  readonly isTestPayable: boolean;
  /** Why the payer is here again: a key of the words. */
  readonly problem: Parameters<Speech["say"]>[0] | null;
}
