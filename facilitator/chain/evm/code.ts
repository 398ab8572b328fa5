import type { Address, Hex } from "#kernel/bytes";
import { hexData, MalformedAnswer } from "./answer.ts";
import type { Room } from "./room.ts";

/** Init code that copies the addresses behind it into memory, replaces each by its EXTCODESIZE and returns them:
 *  one call without a recipient answers for hundreds of accounts. */
const CODE_SIZES = "6024380380602460003960005b81811015601f5780513b8152602001600c565b506000f3";
const GROUP = 500;

/** Whether there is code at each account. */
export async function haveCode(room: Room, accounts: readonly Address[]): Promise<readonly boolean[]> {
  const answers: boolean[] = [];
  for (let i = 0; i < accounts.length; i += GROUP)
    answers.push(...(await readGroup(room, accounts.slice(i, i + GROUP))));
  return answers;
}

async function readGroup(room: Room, accounts: readonly Address[]): Promise<readonly boolean[]> {
  const words = accounts.map((account) => account.slice(2).padStart(64, "0")).join("");
  const data: Hex = `0x${CODE_SIZES}${words}`;
  return room.rpc.request({
    method: "eth_call",
    params: [{ data }, "latest"],
    parse: (value) => {
      const sizes = hexData(value).slice(2);
      if (sizes.length !== accounts.length * 64) throw new MalformedAnswer("code sizes of another length");
      return accounts.map((_, at) => /[^0]/.test(sizes.slice(at * 64, at * 64 + 64)));
    },
  });
}
