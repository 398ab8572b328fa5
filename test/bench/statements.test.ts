import { expect, it } from "vitest";
import { idsIn, valuesOf } from "../../bench/statements.ts";
import { arrayOf } from "../../facilitator/store/arrays.ts";

const old = "01K2C0Z0000000000000000000";
const fresh = "01K2C0Z0000000000000000001";
const replace = (text: string) => text.replaceAll(old, fresh);
const hex = (bytes: string | Buffer) => ({ hex: Buffer.from(bytes).toString("hex") });

it("a statement is sent again with other ids, in texts, lists and packed arrays", () => {
  const packed = hex(arrayOf([`pi_${old}`, null, "ü"], "text"));
  const values = [`pi_${old}`, [old, 7], packed, 7, null];
  expect(valuesOf({ text: "", values }, replace)).toEqual([
    `pi_${fresh}`,
    [fresh, 7],
    arrayOf([`pi_${fresh}`, null, "ü"], "text"),
    7,
    null,
  ]);
});

it("ids are found in packed arrays, too", () => {
  const values = [`pi_${old}`, hex(arrayOf([`evt_${fresh}`, `aud_${old}`, "no_id"], "text"))];
  expect(idsIn([{ text: "", values }])).toEqual([old, fresh]);
});

it("an id of another length is refused: a packed array says how long its texts are", () => {
  const values = [hex(arrayOf([old], "text"))];
  expect(() => valuesOf({ text: "", values }, (text) => text.replaceAll(old, "short"))).toThrow(/length/);
});
