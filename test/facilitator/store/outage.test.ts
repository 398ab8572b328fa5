import { DrizzleQueryError } from "drizzle-orm/errors";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { Fault, fault } from "#kernel/fault";
import { isUniqueViolation, outageOf, sqlState } from "#store";

function databaseError(code: string, constraint?: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError("said by the server", 0, "error"), { code, constraint });
}
const coded = (code: string) => Object.assign(new Error("socket"), { code });
const asQuery = (cause: Error) => new DrizzleQueryError("select secret", ["parameter"], cause);

describe("outageOf", () => {
  it.each([
    ["a refused connection", coded("ECONNREFUSED")],
    ["a reset connection", coded("ECONNRESET")],
    ["a broken pipe", coded("EPIPE")],
    ["a connection that timed out", coded("ETIMEDOUT")],
    ["a host that is not found", coded("ENOTFOUND")],
    ["a name server that does not answer", coded("EAI_AGAIN")],
    ["a host without a way to it", coded("EHOSTUNREACH")],
    ["a network without a way to it", coded("ENETUNREACH")],
    ["a Unix socket that is not there", Object.assign(coded("ENOENT"), { syscall: "connect" })],
    ["a server that shuts down", databaseError("57P01")],
    ["a server that starts", databaseError("57P03")],
    ["a statement that took too long", databaseError("57014")],
    ["a lock that was not given", databaseError("55P03")],
    ["a transaction ended to break a deadlock", databaseError("40P01")],
    ["a transaction that met another one", databaseError("40001")],
    ["too many connections", databaseError("53300")],
    ["a full disk", databaseError("53100")],
    [
      "a server that takes no writes, as one that was another's standby or is one now",
      databaseError("25006"),
    ],
    ["a lost connection, by the server", databaseError("08006")],
    ["an input or output error", databaseError("58030")],
    ["a connection that ended", new Error("Connection terminated unexpectedly")],
    ["a pool that is empty", new Error("timeout exceeded when trying to connect")],
    ["a server that fell silent", new Error("Query read timeout")],
    ["a client that is broken", new Error("Client has encountered a connection error and is not queryable")],
    ["a pool that is closed", new Error("Cannot use a pool after calling end on the pool")],
  ])("calls %s an outage, bare and inside a query's error", (_, error) => {
    for (const each of [error, asQuery(error), new Error("outer", { cause: asQuery(error) })]) {
      const outage = outageOf(each);
      expect(outage).toBeInstanceOf(Fault);
      expect(outage).toMatchObject({ code: "database_unavailable", kind: "unavailable", cause: each });
    }
  });

  it.each([
    ["a unique violation", databaseError("23505")],
    ["an overdrawn account", databaseError("23514")],
    ["a missing right", databaseError("42501")],
    ["a syntax error", databaseError("42601")],
    ["a refusal of ours", fault("ledger_conflict")],
    ["a bug", new TypeError("undefined is not a function")],
    ["a file that is not there", Object.assign(coded("ENOENT"), { syscall: "open" })],
    ["a bug that talks like a socket", Object.assign(new Error("Connection terminated"), { code: "E_OURS" })],
  ])("does not call %s an outage", (_, error) => {
    expect(outageOf(error)).toBeNull();
    expect(outageOf(asQuery(error))).toBeNull();
  });

  it.each([undefined, null, "ECONNREFUSED", { code: "ECONNREFUSED" }])(
    "takes no %s for an error",
    (thrown) => {
      expect(outageOf(thrown)).toBeNull();
    },
  );

  it("hands on the fault of an outage as it is: unknown stays unknown", () => {
    const unknown = fault("commit_unknown");
    const chain = fault("chain_unavailable", { chain: "base" });
    expect([outageOf(unknown), outageOf(chain)]).toEqual([unknown, chain]);
  });

  it("says nothing of the statement or its parameters in what it shows", () => {
    const outage = outageOf(asQuery(coded("ECONNREFUSED")));
    expect(JSON.stringify({ ...outage, message: outage?.message, cause: undefined })).not.toMatch(
      /secret|parameter/,
    );
  });
});

describe("sqlState and isUniqueViolation", () => {
  it("find what the server said, however deep it was wrapped", () => {
    const error = new Error("outer", { cause: asQuery(databaseError("23505", "one_live_claim")) });
    expect(sqlState(error)).toBe("23505");
    expect(isUniqueViolation(error, "one_live_claim")).toBe(true);
    expect(isUniqueViolation(error, "another")).toBe(false);
  });

  it("find nothing where no server spoke", () => {
    for (const code of ["ECONNREFUSED", "EPIPE", "EPERM"]) expect(sqlState(coded(code))).toBeNull();
    expect(isUniqueViolation(asQuery(databaseError("23514", "one_live_claim")), "one_live_claim")).toBe(
      false,
    );
  });
});
