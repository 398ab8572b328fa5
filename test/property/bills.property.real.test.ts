/** Whatever merchants do with invoices, links and subscriptions, and payers with what these ask for: nothing is paid
 *  twice, no cycle is missed, and what is told is what the books say. Random lives, on the real database. */
import { it } from "vitest";
import { liveBills } from "./bills/live.ts";

it.each([1, 2])("invoices, links and subscriptions by seed %i", liveBills, 600_000);
