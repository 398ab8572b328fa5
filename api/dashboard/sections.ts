import { auditLogSection } from "./audit-log/routes.tsx";
import { customersSection } from "./customers/routes.tsx";
import { invoicesSection } from "./invoices/routes.tsx";
import { linksSection } from "./links/routes.tsx";
import { overviewSection } from "./overview/routes.tsx";
import { paymentsSection } from "./payments/routes.tsx";
import { productsSection } from "./products/routes.tsx";
import type { Desk, Section } from "./section.ts";
import { subscriptionsSection } from "./subscriptions/routes.tsx";

/** Every section there is. */
export function sectionsOf(desk: Desk): readonly Section[] {
  return [
    overviewSection(desk),
    paymentsSection(desk),
    linksSection(desk),
    invoicesSection(desk),
    subscriptionsSection(desk),
    productsSection(),
    customersSection(desk),
    auditLogSection(),
  ];
}
