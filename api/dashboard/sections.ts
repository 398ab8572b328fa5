import { auditLogSection } from "./audit-log/routes.tsx";
import { overviewSection } from "./overview/routes.tsx";
import { paymentsSection } from "./payments/routes.tsx";
import type { Desk, Section } from "./section.ts";

/** Every section there is. */
export function sectionsOf(desk: Desk): readonly Section[] {
  return [overviewSection(desk), paymentsSection(desk), auditLogSection()];
}
