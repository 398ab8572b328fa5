import { describe, expect, it } from "vitest";
import { isAcceptable, preferredType } from "../../../api/http/accept.ts";

const types = ["application/json", "text/csv"] as const;

describe("the type that a caller wants most", () => {
  it.each([
    [undefined, "application/json"],
    ["", "application/json"],
    ["*/*", "application/json"],
    ["text/csv", "text/csv"],
    ["TEXT/CSV", "text/csv"],
    ["text/*", "text/csv"],
    ["text/csv, application/json", "application/json"],
    ["application/json, text/csv;q=0", "application/json"],
    ["text/csv;q=0, */*", "application/json"],
    ["application/json;q=1, text/csv;q=0.1", "application/json"],
    ["application/json;q=0.5, text/csv", "text/csv"],
    ["application/json;q=0.1, */*;q=0.5", "text/csv"],
  ] as const)("%j: %s", (accept, wanted) => {
    expect(preferredType(accept, types)).toBe(wanted);
  });

  it("is none where all are refused, also beside a range that covers them", () => {
    expect(isAcceptable("text/html", types)).toBe(false);
    expect(isAcceptable("application/json;q=0, */*", ["application/json"])).toBe(false);
    expect(isAcceptable("application/json;q=0, */*", types)).toBe(true);
  });
});
