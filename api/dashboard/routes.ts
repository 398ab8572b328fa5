import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Asset, answerAsset, makeAsset } from "../http/asset.ts";
import { fault } from "../http/faults.ts";
import type { Porch } from "./gate.tsx";
import { openRoom } from "./room.tsx";
import type { Desk } from "./section.ts";
import { sectionsOf } from "./sections.ts";
import { mountSignIn } from "./sign-in/routes.tsx";

/** Pages for merchants, at `/dashboard`. They call the verbs that the API calls, as the key that signed in. Source:
 *  merchant-api.md §5, §7. */
export function mountDashboard(app: OpenAPIHono, desk: Desk, house: Omit<Porch, "style">): void {
  const sheet = openSheet();
  const porch: Porch = { ...house, style: async () => (await sheet()).path };
  app.get("/dashboard/assets/:name", async (c) => {
    const style = await sheet();
    if (c.req.path !== style.path) throw fault("not_found");
    return answerAsset(c, style);
  });
  app.get("/dashboard/", (c) => c.redirect("/dashboard", 301));
  mountSignIn(app, porch);
  const sections = sectionsOf(desk);
  const places = sections.map(({ place }) => place);
  const explorerOf = (of: string) =>
    desk.facilitator.chains().find(({ chain }) => chain === of)?.explorer ?? null;
  for (const { place, furnish } of sections) furnish(openRoom(app, porch, { place, places, explorerOf }));
}

/** Read when it is first asked for. */
function openSheet(): () => Promise<Asset> {
  let made: Promise<Asset> | undefined;
  return () => {
    made ??= readFile(join(import.meta.dirname, "dashboard.css")).then((text) =>
      makeAsset("/dashboard/assets", "dashboard", "css", text),
    );
    // A failure is not kept: the next page tries again.
    made.catch(() => {
      made = undefined;
    });
    return made;
  };
}
