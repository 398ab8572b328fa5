/** Every route of the dashboard, read off the router: a page needs the session, a form also its token. */
import { beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { newCaller } from "../caller.ts";
import { now, world } from "../world.ts";
import { type Ask, openSession, sessionOf } from "./room.ts";

const database = sharedDatabase();
let ask: Ask;
let routes: readonly { readonly method: string; readonly path: string }[];
beforeAll(async () => {
  const { app } = world({ db: database.db });
  ask = async (path, init) => app.request(path, init);
  routes = app.routes.filter(({ method, path }) => method !== "ALL" && path.startsWith("/dashboard"));
});

const open = ["/dashboard/", "/dashboard/sign-in", "/dashboard/assets/:name"];
const walk = (method: string, id = "pi_01K2C0Z0000000000000000000") => {
  const found = routes.filter((route) => route.method === method && !open.includes(route.path));
  expect(found.length).toBeGreaterThan(3);
  return found.map(({ path }) => path.replace(/:\w+/g, id));
};
const session = async () => openSession(ask, (await newCaller(database.db)).key);
const fields = { once: `at ${now.toISOString()}` };

describe("without a session", () => {
  it("every page and every form leads to the sign-in", async () => {
    for (const cookie of ["", `__Host-farebox_session=${"A".repeat(43)}`]) {
      const nobody = sessionOf(ask, cookie);
      for (const path of walk("GET")) {
        const { status, leadsTo } = await nobody.get(path);
        expect([path, status, leadsTo?.split("?")[0]]).toEqual([path, 303, "/dashboard/sign-in"]);
      }
      for (const path of walk("POST")) {
        const { status, leadsTo } = await nobody.post(path, fields);
        expect([path, status, leadsTo?.split("?")[0]]).toEqual([path, 303, "/dashboard/sign-in"]);
      }
    }
  });
});

describe("the address with a slash at its end", () => {
  it("leads to the overview", async () => {
    expect(await sessionOf(ask, "").get("/dashboard/")).toMatchObject({ status: 301, leadsTo: "/dashboard" });
  });
});

describe("with a session", () => {
  it("no form is taken without its token, with another session's, or from another site", async () => {
    const [own, other] = [await session(), await session()];
    const csrf = await own.token();
    for (const path of walk("POST"))
      for (const [token, headers] of [
        ["", {}],
        [await other.token(), {}],
        [csrf, { origin: "https://evil.example" }],
        [csrf, { "sec-fetch-site": "cross-site" }],
      ] as const) {
        const { status } = await own.post(path, { ...fields, csrf: token }, headers);
        expect([path, token, status]).toEqual([path, token, 403]);
      }
    expect((await own.get("/dashboard")).status).toBe(200);
  });

  it("an id of nothing, or none at all, is not found", async () => {
    const own = await session();
    const csrf = await own.token();
    for (const id of ["pi_01K2C0Z0000000000000000000", "x".repeat(60), "%00", "'"]) {
      for (const path of walk("GET", id))
        if (path.includes(id)) expect([path, (await own.get(path)).status]).toEqual([path, 404]);
      for (const path of walk("POST", id))
        if (path.includes(id))
          expect([path, (await own.post(path, { ...fields, csrf })).status]).toEqual([path, 404]);
    }
  });
});
