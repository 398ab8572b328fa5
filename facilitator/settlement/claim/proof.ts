import { sql } from "drizzle-orm";
import { chainTransfer } from "../observer/tables.ts";
import { claim } from "./tables.ts";

/** A transfer in a canonical block that carried a claim out. That its nonce is spent says less: who signs one nonce twice
 *  may have moved another amount with it, or moved it elsewhere. Source: DESIGN 4.3. */
export const isProofOf = sql`${chainTransfer.authorizationKey} = ${claim.claimKey} AND ${chainTransfer.canonical}
    AND ${chainTransfer.amount} = ${claim.amount} AND ${chainTransfer.recipient} = ${claim.payTo}`;

/** Whether there is one. `OFFSET 0` keeps it a look-up for each claim that is asked about. */
export const isPaid = sql`EXISTS (SELECT FROM ${chainTransfer} WHERE ${isProofOf} OFFSET 0)`;
