import { describe, expect, it } from "vitest";
import { day, instant, writeLocal } from "../../../api/documents/words.ts";

const at = new Date("2026-08-11T23:30:05.000Z");

describe("times on documents", () => {
  const local = (time: Date, zone: string) => {
    const rows: string[][] = [];
    writeLocal({ row: (label, value) => void rows.push([label, value]) }, time, zone);
    return rows;
  };

  it("are told in UTC", () => {
    expect([instant(at), day(at)]).toEqual(["2026-08-11 23:30:05 UTC", "11 August 2026"]);
    expect(local(at, "UTC")).toEqual([]);
  });

  it("and in the merchant's zone where it is another one, by its summers", () => {
    expect(local(at, "Europe/Lisbon")).toEqual([["Local time", "2026-08-12 00:30:05 Europe/Lisbon"]]);
    const winter = new Date("2026-01-11T23:30:05.000Z");
    expect(local(winter, "Europe/Lisbon")).toEqual([["Local time", "2026-01-11 23:30:05 Europe/Lisbon"]]);
  });
});
