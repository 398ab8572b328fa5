import {
  type DiscoveryExtension,
  isValidIconUrl,
  isValidServiceName,
  sanitizeTags,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
  validateRouteTemplate,
} from "@x402/extensions/bazaar";
import { cleanText } from "#kernel/text";
import { deeperThan } from "./nesting.ts";

/** What a merchant offers for the discovery indexes, as it came. */
export interface OfferedMetadata {
  readonly serviceName?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly iconUrl?: string | undefined;
  readonly bazaar?: Readonly<Record<string, unknown>> | undefined;
}
export interface KeptMetadata {
  readonly serviceName: string | null;
  readonly tags: readonly string[];
  readonly iconUrl: string | null;
  readonly extensions: Readonly<Record<string, unknown>>;
}
/** Something that was left out of an item, told to the merchant: what to change. */
export interface ExtensionFinding {
  readonly code: string;
  readonly detail: string;
}

/** The block travels in the header PAYMENT-REQUIRED, of which clients read 16 kB at most. */
const MAX_BLOCK_BYTES = 4_096;
const MAX_BLOCK_DEPTH = 16;
/** Two references to a schema that holds two of the next: each level doubles the work. */
const MAX_REFERENCES = 16;

/** Keeps what stock readers of the indexes accept and drops the rest, saying so: a bad label must not keep an
 *  endpoint from being sold. Limits are those of the Bazaar package. Source: agents.md §6.3. */
export function checkExtensions(offered: OfferedMetadata): {
  readonly kept: KeptMetadata;
  readonly findings: readonly ExtensionFinding[];
} {
  const findings: ExtensionFinding[] = [];
  const drop = (code: string, detail: string) => findings.push({ code, detail });
  const { iconUrl, bazaar } = offered;
  const serviceName = offered.serviceName === undefined ? undefined : cleanText(offered.serviceName);
  if (serviceName !== undefined && !isValidServiceName(serviceName))
    drop("service_name_invalid", "serviceName is 1 to 32 printable ASCII characters; it was left out.");
  if (iconUrl !== undefined && !isValidIconUrl(iconUrl))
    drop(
      "icon_url_invalid",
      "iconUrl is an http(s) URL by host name, at most 2048 characters; it was left out.",
    );
  const tags = sanitizeTags((offered.tags ?? []).map(cleanText)) ?? [];
  if (tags.length < (offered.tags?.length ?? 0))
    drop(
      "tags_invalid",
      "At most 5 different tags of 1 to 32 printable ASCII characters; the others were left out.",
    );
  const block = bazaar === undefined ? null : readBlock(bazaar);
  if (typeof block === "string") drop("bazaar_invalid", `The bazaar extension was left out: ${block}`);
  return {
    kept: {
      serviceName: serviceName !== undefined && isValidServiceName(serviceName) ? serviceName : null,
      tags,
      iconUrl: iconUrl !== undefined && isValidIconUrl(iconUrl) ? iconUrl : null,
      extensions: block === null || typeof block === "string" ? {} : { bazaar: block },
    },
    findings,
  };
}

type Block = Readonly<Record<string, unknown>>;

/** A block in plain text; a string instead says what keeps it out. It is measured before it is cleaned, and again then. */
function readBlock(offered: Block): Block | string {
  if (isTooLong(offered)) return TOO_LONG;
  const block = withToolName(plain(offered) as Block);
  return shapeProblem(block) ?? schemaProblem(block) ?? block;
}

const TOO_LONG = `it is larger than ${MAX_BLOCK_BYTES} characters.`;

function isTooLong(block: Block): boolean {
  return JSON.stringify(block).length > MAX_BLOCK_BYTES;
}

/** What keeps somebody's bazaar block out of the index by its shape alone; null when nothing does. Its schema is not
 *  run: this may be asked by anybody. */
export function shapeProblem(block: Block): string | null {
  const { info, schema, routeTemplate, ...unknown } = block;
  if (Object.keys(unknown).length > 0) return "it has keys beside info, schema and routeTemplate.";
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return "schema must be an object.";
  if (isTooLong(block)) return TOO_LONG;
  if (deeperThan(block, MAX_BLOCK_DEPTH)) return `it is nested deeper than ${MAX_BLOCK_DEPTH} levels.`;
  // The schema is run here, over the merchant's own info: a regular expression of theirs could hold up the process.
  if (keysIn(schema, ["pattern", "patternProperties"]) > 0)
    return "schema must not use regular expressions (pattern).";
  // It would be answered by a promise: true whatever comes of it, and the end of the process where it is rejected.
  if (keysIn(schema, ["$async"]) > 0) return "schema must not be asynchronous ($async).";
  if (keysIn(schema, ["$ref", "$dynamicRef", "$recursiveRef"]) > MAX_REFERENCES)
    return `schema holds more than ${MAX_REFERENCES} references.`;
  if (routeTemplate !== undefined && validateRouteTemplate(String(routeTemplate)) === undefined)
    return "routeTemplate must start with / and hold neither .. nor ://.";
  const shape = validateDiscoveryExtensionSpec({ info: withToolName({ info }).info });
  return shape.valid ? null : "info is not a description of an input; see the bazaar extension of x402.";
}

/** Older servers declare the tool of an MCP server as `tool`, in `info` and in its schema; readers look for `toolName`.
 *  What is not of such a server stays as it is. */
function withToolName(block: Block): Block {
  const { info, schema } = block;
  const input = memberOf(info, "input");
  if (!isObject(input) || input.type !== "mcp" || input.toolName !== undefined || input.tool === undefined)
    return block;
  const { tool, ...rest } = input;
  return {
    ...block,
    info: { ...(info as Block), input: { ...rest, toolName: tool } },
    ...(isObject(schema) ? { schema: schemaWithToolName(schema) } : {}),
  };
}

function schemaWithToolName(schema: Block): Block {
  const input = memberOf(schema.properties, "input");
  const properties = memberOf(input, "properties");
  if (!isObject(input) || !isObject(properties)) return schema;
  const { tool, ...rest } = properties;
  const { required } = input;
  const renamed = {
    ...input,
    properties: tool === undefined ? rest : { ...rest, toolName: tool },
    ...(Array.isArray(required)
      ? { required: required.map((name) => (name === "tool" ? "toolName" : name)) }
      : {}),
  };
  return { ...schema, properties: { ...(schema.properties as Block), input: renamed } };
}

function memberOf(holder: unknown, key: string): unknown {
  return isObject(holder) ? holder[key] : undefined;
}

function isObject(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function schemaProblem(block: Block): string | null {
  const match = validateDiscoveryExtension(block as unknown as DiscoveryExtension);
  return match.valid
    ? null
    : `info does not satisfy schema (${match.errors?.slice(0, 3).join("; ") ?? "no reason"}).`;
}

/** Merchant text is plain wherever it stands: every string of the block, and every name in it. */
function plain(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleanText(key), plain(member)]));
}

function keysIn(value: unknown, names: readonly string[]): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, member]) =>
      sum + (!Array.isArray(value) && names.includes(key) ? 1 : 0) + keysIn(member, names),
    0,
  );
}
