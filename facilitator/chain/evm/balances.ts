import type { Address, Hex } from "#kernel/bytes";
import { MalformedAnswer } from "./answer.ts";
import { atBlock } from "./blocks.ts";
import { balanceOf, readBalance, uint, view } from "./call.ts";
import { packAggregate3, unpackResults } from "./multicall.ts";
import type { Room } from "./room.ts";
import { readAlike } from "./witnesses.ts";

const PER_CALL = 200;
const AT_ONCE = 10;

/** What an account holds of a token: at a block as two endpoints tell it alike, now as any one of them does. */
export function tokenBalance(
  room: Room,
  token: Address,
  account: Address,
  block: number | "latest",
): Promise<bigint> {
  const read = (alone: Room) => readBalance(alone, { token, account, block: atBlock(block) });
  return block === "latest" ? read(room) : readAlike(room, `a balance at block ${block}`, read);
}

/** What many accounts hold of a token at a block, in their order, as two endpoints tell it alike. */
export function tokenBalances(
  room: Room,
  token: Address,
  accounts: readonly Address[],
  block: number,
): Promise<readonly bigint[]> {
  const asked = { token, accounts, block: atBlock(block) };
  return readAlike(room, `balances at block ${block}`, (alone) => readBalances(alone, asked));
}

/** By one call for many where Multicall3 stood then. */
async function readBalances(room: Room, { token, accounts, block }: Question): Promise<readonly bigint[]> {
  const held: bigint[] = [];
  for (let i = 0; i < accounts.length; i += PER_CALL) {
    const some = accounts.slice(i, i + PER_CALL);
    const together = await readTogether(room, { token, accounts: some, block });
    held.push(...(together ?? (await readOneByOne(room, { token, accounts: some, block }))));
  }
  return held;
}

interface Question {
  readonly token: Address;
  readonly accounts: readonly Address[];
  readonly block: string;
}

/** Null where there is no Multicall3 at that block. */
async function readTogether(
  room: Room,
  { token, accounts, block }: Question,
): Promise<readonly bigint[] | null> {
  const { multicall: to } = room.row;
  if (to === null) return null;
  const data = packAggregate3(accounts.map((account) => ({ to: token, data: balanceOf(account) })));
  const answer = await view(room, { to, data }, block);
  return answer && balancesIn(room, answer, accounts.length);
}

function balancesIn(room: Room, answer: Hex, count: number): readonly bigint[] {
  try {
    return unpackResults(answer, count).map((result) => {
      if (!result.success) throw new MalformedAnswer("a token that cannot be read");
      return uint(result.data);
    });
  } catch (error) {
    if (error instanceof MalformedAnswer) throw room.rpc.unavailable(error);
    throw error;
  }
}

async function readOneByOne(room: Room, { token, accounts, block }: Question): Promise<readonly bigint[]> {
  const held: bigint[] = [];
  for (let i = 0; i < accounts.length; i += AT_ONCE) {
    const some = accounts.slice(i, i + AT_ONCE);
    held.push(...(await Promise.all(some.map((account) => readBalance(room, { token, account, block })))));
  }
  return held;
}
