/** A call as one types it into a shell. */
import type { Call } from "./chapters.ts";
import { type Document, type Media, type Parameter, parametersOf, type Schema } from "./document.ts";
import { pretty } from "./pretty.ts";
import { sample, sampleOf } from "./sample.ts";

/** Where each kind of key is read from. */
const keys: Readonly<Record<string, string>> = {
  secretKey: "$SECRET_KEY",
  publishableKey: "$PUBLISHABLE_KEY",
};

export function curlOf(document: Document, call: Call): string {
  const { operation, method } = call;
  const parameters = parametersOf(document, operation);
  const headers = parameters.filter((each) => each.in === "header" && each.required);
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const parts = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(addressOf(document, call.path, parameters))}`,
    ...keyOf(call),
    ...headers.map((header) => `-H ${quoted(`${header.name}: ${exampleOf(document, header)}`)}`),
    ...(type && media ? bodyOf(document, type, media) : []),
    ...receivingOf(call),
  ];
  return parts.join(" \\\n  ");
}

function addressOf(document: Document, path: string, parameters: readonly Parameter[]): string {
  const inPath = parameters.filter((each) => each.in === "path");
  const filled = inPath.reduce(
    (text, each) => text.replace(`{${each.name}}`, encodeURIComponent(exampleOf(document, each))),
    path,
  );
  const asked = parameters.filter((each) => each.in === "query" && each.required);
  const query = new URLSearchParams(
    asked.map((each): [string, string] => [each.name, exampleOf(document, each)]),
  );
  return `${document.servers[0]?.url ?? ""}${filled}${asked.length > 0 ? `?${query}` : ""}`;
}

/** Of a parameter without an example its name, in capitals: something to be filled in. */
function exampleOf(document: Document, { name, example, schema = {} }: Parameter): string {
  const known = example ?? schema.example ?? schema.default ?? schema.enum?.[0];
  if (known !== undefined) return String(known);
  return schema.type === "string" ? name.toUpperCase() : String(sample(document, schema, "least"));
}

function keyOf({ operation }: Call): readonly string[] {
  const [scheme] = Object.keys(operation.security?.[0] ?? {});
  return scheme === undefined ? [] : [`-H "Authorization: Bearer ${keys[scheme] ?? "$KEY"}"`];
}

function bodyOf(document: Document, type: string, media: Media): readonly string[] {
  const value = sampleOf(document, media, "least");
  if (type === "application/x-www-form-urlencoded")
    return Object.entries(value as object).map(
      ([name, text]) => `--data-urlencode ${quoted(`${name}=${text}`)}`,
    );
  if (isBytes(media.schema)) return ["--data-binary @body"];
  return [`-H "Content-Type: ${type}"`, `-d ${quoted(pretty(value, "  "))}`];
}

function isBytes(schema: Schema | undefined): boolean {
  return schema?.format === "binary";
}

/** What is no text goes into a file, and what has no end is shown as it comes. */
function receivingOf({ operation, path }: Call): readonly string[] {
  const types = Object.values(operation.responses).flatMap(({ content = {} }) => Object.entries(content));
  if (types.some(([type]) => type === "text/event-stream")) return ["-N"];
  return types.some(([, { schema }]) => isBytes(schema))
    ? [`-o ${path.slice(path.lastIndexOf("/") + 1)}`]
    : [];
}

/** Plain words as they are; the rest so that a shell takes it for what it is. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
