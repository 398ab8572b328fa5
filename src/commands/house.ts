import { systemClock, systemRandom } from "#kernel/system";
import { compose, type House } from "../compose.ts";
import { readConfig } from "../config.ts";
import { recordedParts } from "../dev/recorded-parts.ts";
import { version } from "../version.ts";
import { prepare, silent } from "./deployment.ts";

/** Of every token that is listed. */
export const TOKEN_DECIMALS = 6;

/** The deployment with its chains, for what needs both. It signs nothing, and moves no money itself. */
export async function withHouse(work: (house: House) => Promise<void>): Promise<void> {
  const { outside, dataDir, baseUrl } = readConfig(process.env);
  const parts = outside ?? (await recordedParts(dataDir));
  await prepare(parts.databaseUrl);
  const house = await compose({
    ...parts,
    treasuryKey: null,
    role: "web",
    rateLimits: "off",
    baseUrl,
    version,
    clock: systemClock,
    random: systemRandom,
    log: silent,
    meter: { count: () => {}, time: () => {} },
  });
  try {
    await work(house);
  } finally {
    await house.close();
  }
}
