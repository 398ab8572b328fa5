import { z } from "@hono/zod-openapi";
import { describedFamilies } from "./events.ts";
import type { EventFamily } from "./http/event.ts";
import { Event } from "./webhook/schema.ts";

/** What the house tells by mail only; no endpoint gets it. */
const mailed = ["webhook_endpoint.failing", "webhook_endpoint.disabled"];

const nameOf = ({ types }: EventFamily) => types[0]?.replace(/\.[^.]+$/, "") ?? "";

/** Every type of event and what it is about, as Markdown: the contents of `docs/reference/events.md`. */
export function eventReference(): string {
  return `# Events

Made from the code by \`npm run reference\`; a test compares the two. Deliveries, signatures and retries:
[webhooks.md](../webhooks.md). The schema of each event, as JSON Schema: [events.schema.json](events.schema.json).

An event is \`{id, type, timestamp, apiVersion, sequence, data: {object, previous}}\`. \`object\` is the thing as its endpoints
answer it at the time when the event was written; \`previous\` holds what was so before, or is null.

${describedFamilies().map(sectionOf).join("\n\n")}

## Told by mail

${mailed.map((type) => `\`${type}\``).join(", ")}: an endpoint that does not answer cannot be told so by webhook.
`;
}

function sectionOf(family: EventFamily): string {
  const rows = family.types.map((type) => `| \`${type}\` |`);
  const members = Object.keys(schemaOf(family).properties ?? {}).map((name) => `\`${name}\``);
  return `## ${nameOf(family)}\n\n\`data.object\` has ${members.join(", ")}.\n\n| type |\n|---|\n${rows.join("\n")}`;
}

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly [keyword: string]: unknown;
}

function schemaOf({ object }: EventFamily): Schema {
  const { $schema: _draft, ...schema } = z.toJSONSchema(object, { io: "output", unrepresentable: "any" });
  return schema;
}

/** JSON Schema of every event, by its type: the contents of `docs/reference/events.schema.json`. */
export function eventSchemas(): string {
  const families = describedFamilies();
  const envelope = schemaOf({ types: [], object: Event, present: async () => [] });
  const events = families.flatMap((family) =>
    family.types.map((type) => [type, eventOf(envelope, family, type)]),
  );
  const objects = families.map((family) => [nameOf(family), schemaOf(family)]);
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Events that merchants are told",
    oneOf: events.map(([type]) => ({ $ref: `#/$defs/${type}` })),
    $defs: {
      ...Object.fromEntries(objects.map(([name, schema]) => [`object ${name}`, schema])),
      ...Object.fromEntries(events),
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function eventOf({ properties, ...envelope }: Schema, family: EventFamily, type: string): Schema {
  const data = properties?.data as Schema;
  const object = { $ref: `#/$defs/${encodeURIComponent(`object ${nameOf(family)}`)}` };
  return {
    ...envelope,
    properties: {
      ...properties,
      type: { const: type },
      data: { ...data, properties: { ...data.properties, object } },
    },
  };
}
