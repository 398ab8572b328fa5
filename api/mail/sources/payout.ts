import { eq } from "drizzle-orm";
import { checksum } from "#kernel/bytes";
import { merchant } from "../../merchant/tables.ts";
import { payoutAddress } from "../../payout/tables.ts";
import { aboutSubjects, isOneOf, type Source } from "./source.ts";

/** To the merchant: somebody with its key says where its money may go. */
export const payoutAddresses: Source = async (tx, facts) => {
  const rows = await tx
    .select({ row: payoutAddress, contactEmail: merchant.contactEmail })
    .from(payoutAddress)
    .innerJoin(merchant, eq(merchant.id, payoutAddress.merchantId))
    .where(isOneOf(payoutAddress.merchantId, payoutAddress.id, aboutSubjects(facts)));
  return rows.flatMap(({ row: { merchantId, id, address, chain, label, usableFrom }, contactEmail }) =>
    contactEmail === null
      ? []
      : [
          {
            merchantId,
            cause: id,
            to: contactEmail,
            template: "payout-address-added" as const,
            data: { address: checksum(address), chain, label, usableFrom: usableFrom.toISOString() },
          },
        ],
  );
};
