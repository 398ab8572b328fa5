import { describe, expect, it } from "vitest";
import { fault } from "./judge.ts";

describe("the judge", () => {
  const shot = { route: "", method: "GET", path: "/v1/merchant", headers: [], body: null };
  const problem = {
    type: "https://pay.example/errors/validation_failed",
    title: "t",
    detail: "d",
    code: "validation_failed",
    requestId: "req_1",
    status: 400,
    errors: [{ pointer: "/a", code: "c", detail: "d" }],
  };
  const answer = (status: number, body: object, type = "application/problem+json") => ({
    status,
    type,
    text: JSON.stringify(body),
  });

  it("takes problem details, verdicts of the protocol and pages where a page may be", () => {
    expect(fault(shot, answer(400, problem))).toBeNull();
    expect(fault(shot, answer(503, { ...problem, status: 503, code: "unavailable" }))).toBeNull();
    expect(fault(shot, answer(409, { success: false, errorReason: "x" }, "application/json"))).toBeNull();
    const why = { errorMessage: "The payment cannot be read." };
    for (const body of [{}, why]) expect(fault(shot, answer(402, body, "application/json"))).toBeNull();
    const ready = { ...shot, path: "/health/ready" };
    expect(fault(ready, answer(503, { status: "not-ready", checks: {} }, "application/json"))).toBeNull();
    expect(fault({ ...shot, path: "/checkout/x" }, { status: 404, type: "text/html", text: "" })).toBeNull();
  });

  it.each([
    ["a 500", answer(500, { ...problem, status: 500 })],
    ["a 502", answer(502, problem)],
    ["no JSON", { status: 400, type: "application/problem+json", text: "oops" }],
    ["no code", answer(400, { ...problem, code: "" })],
    ["another status", answer(404, problem)],
    ["no field named", answer(400, { ...problem, errors: [] })],
    ["no reason named", answer(400, { ...problem, errors: [{ pointer: "/a", detail: "" }] })],
    ["no verdict", answer(400, { hello: 1 }, "application/json")],
    ["a challenge that says nothing", answer(402, { errorMessage: "" }, "application/json")],
    ["readiness told elsewhere", answer(503, { status: "not-ready", checks: {} }, "application/json")],
    ["a page for a program", { status: 404, type: "text/html", text: "<h1>" }],
  ])("does not take %s", (_name, bad) => {
    expect(fault(shot, bad)).not.toBeNull();
  });
});
