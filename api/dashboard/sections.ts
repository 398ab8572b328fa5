import { paymentsSection } from "./payments/routes.tsx";
import type { Desk, Section } from "./section.ts";

/** Every section there is. */
export function sectionsOf(desk: Desk): readonly Section[] {
  return [paymentsSection(desk)];
}
