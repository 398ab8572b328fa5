import { type Address, parseHash } from "#kernel/bytes";
import type { RouterFacts } from "../port.ts";
import { addressInWord } from "./answer.ts";
import { view } from "./call.ts";
import type { Room } from "./room.ts";
import { codeOf } from "./token-facts.ts";
import { readAlike } from "./witnesses.ts";

/** operator() */
const OPERATOR = "0x570ca735";

/** Whether a contract is there and which operator it names, as two endpoints tell it alike. */
export function routerFacts(room: Room, router: Address): Promise<RouterFacts> {
  return readAlike(room, `the router ${router}`, async (alone) => ({
    hasCode: (await codeOf(alone, router)) !== "0x",
    operator: await operatorOf(alone, router),
  }));
}

/** Null for anything but an address. */
async function operatorOf(room: Room, router: Address): Promise<Address | null> {
  const word = parseHash(await view(room, { to: router, data: OPERATOR }));
  return word && BigInt(word) >> 160n === 0n ? addressInWord(word) : null;
}
