import type { Rule } from "../check.ts";
import { beyond } from "./beyond.ts";
import { sr1 } from "./sr1.ts";
import { sr2 } from "./sr2.ts";
import { sr3 } from "./sr3.ts";
import { sr4 } from "./sr4.ts";
import { sr5 } from "./sr5.ts";
import { sr6 } from "./sr6.ts";
import { sr7 } from "./sr7.ts";
import { sr8 } from "./sr8.ts";

export const rules: readonly Rule[] = [sr1, sr2, sr3, sr4, sr5, sr6, sr7, sr8, beyond];
