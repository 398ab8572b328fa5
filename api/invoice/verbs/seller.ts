import type { MerchantRow } from "../../merchant/verbs/merchant.ts";

/** The merchant as a bill names it, of the day it is issued: who sold, from where and under which tax id is what a bill
 *  tells a tax office, and stays true when the merchant moves. How it looks (logo, colour) and is reached is of no such
 *  weight, so that follows the merchant's settings. */
export function sellerOf(merchant: MerchantRow) {
  return {
    merchantName: merchant.name,
    merchantCity: merchant.city,
    merchantCountryCode: merchant.countryCode,
    merchantCategoryCode: merchant.categoryCode,
    merchantTaxId: merchant.taxId,
    merchantAddress: merchant.address,
    feeBps: merchant.feeBps,
  };
}
