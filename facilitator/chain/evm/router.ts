import { type Address, parseHash } from "#kernel/bytes";
import { addressInWord } from "./answer.ts";
import { view } from "./call.ts";
import type { Room } from "./room.ts";

/** operator() */
const OPERATOR = "0x570ca735";

/** The operator that the contract names; null for anything but an address. */
export async function routerOperator(room: Room, router: Address): Promise<Address | null> {
  const word = parseHash(await view(room, { to: router, data: OPERATOR }));
  return word && BigInt(word) >> 160n === 0n ? addressInWord(word) : null;
}
