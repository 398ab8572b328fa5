import { createContext, useContext } from "hono/jsx";
import { assert } from "#kernel/fault";
import type { Permission } from "../../http/permissions.ts";
import type { Refused } from "../form.ts";
import type { Place } from "../nav.ts";
import type { Drawn } from "./drawn.ts";

/** What every part of a page may need to know of who looks at it. */
export interface Viewer {
  readonly merchantName: string;
  /** Why the merchant is suspended; null while it is not. */
  readonly suspensionReason: string | null;
  readonly keyId: string;
  readonly csrfToken: string;
  readonly refused: Refused | null;
  readonly drawn: Drawn;
  /** For a form, so that it counts once however often it is sent. */
  newKey(): string;
  may(permission: Permission): boolean;
  /** Of a chain, by its slug; null where nobody keeps one. */
  explorerOf(chain: string): string | null;
  readonly place: Place;
  readonly places: readonly Place[];
}

export const ViewerContext = createContext<Viewer | null>(null);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  assert(viewer, "a part of the dashboard is shown inside its layout");
  return viewer;
}
