import type { Context } from "hono";
import { spend } from "../http/limit.ts";

/** Counts a payment by what it pays and by who pays it. Nobody has checked yet that the payer signed, so a payer has an
 *  allowance for each caller: what strangers send in its name takes nothing from its own. Fault: `rate_limited`. */
export async function countPayment(
  c: Context,
  {
    payable,
    payer,
    caller,
  }: { readonly payable: string; readonly payer: string | null; readonly caller: string },
): Promise<void> {
  await spend(c, "payable", payable);
  if (payer !== null) await spend(c, "payer", `${payer.slice(0, 64).toLowerCase()} ${caller}`);
}
