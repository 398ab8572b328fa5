import { declareDiscoveryExtension, validateDiscoveryExtension } from "@x402/extensions/bazaar";
import { describe, expect, it } from "vitest";
import { checkExtensions, payableUrl, shapeProblem } from "#facilitator";

const declared = declareDiscoveryExtension({
  input: { city: "Oslo" },
  inputSchema: { properties: { city: { type: "string" } }, required: ["city"] },
  output: { example: { degrees: 4 } },
}).bazaar as unknown as { info: { input: object } };
// The stock server writes the method in when it knows the route; a merchant names it.
const bazaar = { ...declared, info: { ...declared.info, input: { ...declared.info.input, method: "GET" } } };
const codes = (offered: Parameters<typeof checkExtensions>[0]) =>
  checkExtensions(offered).findings.map(({ code }) => code);

describe("what a merchant offers for the index", () => {
  it("is kept where stock readers accept it", () => {
    const { kept, findings } = checkExtensions({
      serviceName: "Weather",
      tags: ["a", "b"],
      iconUrl: "https://m.example/i.png",
      bazaar,
    });
    expect(findings).toEqual([]);
    expect(kept).toEqual({
      serviceName: "Weather",
      tags: ["a", "b"],
      iconUrl: "https://m.example/i.png",
      extensions: { bazaar },
    });
    expect(validateDiscoveryExtension(kept.extensions.bazaar as never).valid).toBe(true);
  });

  it("names the tool of an MCP server by toolName, whichever of its keys was offered", () => {
    const tool = declareDiscoveryExtension({ toolName: "forecast", inputSchema: { type: "object" } }).bazaar;
    const older = JSON.parse(JSON.stringify(tool).replaceAll('"toolName"', '"tool"'));
    expect(older.info.input).toMatchObject({ type: "mcp", tool: "forecast" });
    expect(checkExtensions({ bazaar: older })).toMatchObject({
      findings: [],
      kept: { extensions: { bazaar: tool } },
    });
    expect(shapeProblem(older)).toBeNull();
    // a name that is none, and a key of that name where no tool is sold
    expect(codes({ bazaar: { ...older, info: { input: { ...older.info.input, tool: 5 } } } })).toEqual([
      "bazaar_invalid",
    ]);
    const http = { ...bazaar, info: { input: { type: "http", method: "GET", tool: "saw" } }, schema: {} };
    expect(checkExtensions({ bazaar: http }).kept.extensions).toEqual({ bazaar: http });
  });

  it("is nothing where nothing was offered", () => {
    expect(checkExtensions({})).toEqual({
      kept: { serviceName: null, tags: [], iconUrl: null, extensions: {} },
      findings: [],
    });
  });

  it("is dropped and reported where it is wrong, each by itself", () => {
    const { kept, findings } = checkExtensions({
      serviceName: "x".repeat(33),
      tags: ["good", "", "ü", "good"],
      iconUrl: "https://127.0.0.1/i.png",
      bazaar: { info: {}, schema: {} },
    });
    expect(kept).toEqual({ serviceName: null, tags: ["good"], iconUrl: null, extensions: {} });
    expect(findings.map(({ code }) => code)).toEqual([
      "service_name_invalid",
      "icon_url_invalid",
      "tags_invalid",
      "bazaar_invalid",
    ]);
  });

  it.each([
    ["no schema", { info: {} }],
    ["no method", declared as unknown as object],
    ["an unknown key", { ...bazaar, evil: 1 }],
    [
      "info against its schema",
      { ...bazaar, info: { input: { type: "http", method: "GET", queryParams: { city: 5 } } } },
    ],
    ["a remote reference", { ...bazaar, schema: { $ref: "https://evil.example/schema" } }],
    [
      "a regular expression, which would run here",
      { ...bazaar, schema: { type: "object", properties: { a: { pattern: "(a+)+$" } } } },
    ],
    [
      "a regular expression for names, which would run here as well",
      { ...bazaar, schema: { type: "object", patternProperties: { "(a+)+$": {} } } },
    ],
    [
      "more levels than anybody reads",
      { ...bazaar, schema: JSON.parse(`${'{"not":'.repeat(18)}{}${"}".repeat(18)}`) },
    ],
    [
      "references that double at each level",
      {
        ...bazaar,
        schema: {
          $ref: "#/$defs/0",
          $defs: Object.fromEntries(
            Array.from({ length: 9 }, (_, i) => [
              i,
              { allOf: [{ $ref: `#/$defs/${i + 1}` }, { $ref: `#/$defs/${i + 1}` }] },
            ]),
          ),
        },
      },
    ],
    [
      "a schema that says later whether info satisfies it",
      { ...bazaar, schema: { $async: true, required: ["not there"] } },
    ],
    ["a schema that holds itself", { ...bazaar, schema: { allOf: [{ $ref: "#" }, { $ref: "#" }] } }],
    ["a route template that climbs", { ...bazaar, routeTemplate: "/%252e%252e/admin" }],
    [
      "more than a header can carry",
      { ...bazaar, info: { input: { type: "http", method: "GET" }, output: { example: "x".repeat(5_000) } } },
    ],
  ])("a block with %s is dropped", (_name, block) => {
    expect(codes({ bazaar: block as Record<string, unknown> })).toEqual(["bazaar_invalid"]);
  });
});

describe("a block that is far too long", () => {
  it.each([
    ["opening brackets", "[".repeat(200_000)],
    ["links within links", `${"[".repeat(40_000)}x${"](y)".repeat(40_000)}`],
  ])("is dropped before its text is read: %s", (_name, description) => {
    const began = performance.now();
    expect(codes({ bazaar: { ...bazaar, info: { ...bazaar.info, description } } })).toEqual([
      "bazaar_invalid",
    ]);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe("merchant text in what is offered", () => {
  const dirty = "a\u202e\u200b<b>b</b>\n[c](https://evil.example)\u{e0041}";

  it("is plain in every string and name of the block, which satisfies its schema still", () => {
    const input = { type: "http", method: "GET", queryParams: { [dirty]: dirty } };
    const schema = {
      type: "object",
      description: dirty,
      properties: { input: { type: "object", properties: { queryParams: { required: [dirty] } } } },
    };
    const { kept, findings } = checkExtensions({ bazaar: { info: { input }, schema } });
    expect(findings).toEqual([]);
    expect(kept.extensions).toEqual({
      bazaar: {
        info: { input: { type: "http", method: "GET", queryParams: { "ab c": "ab c" } } },
        schema: {
          type: "object",
          description: "ab c",
          properties: { input: { type: "object", properties: { queryParams: { required: ["ab c"] } } } },
        },
      },
    });
    expect(validateDiscoveryExtension(kept.extensions.bazaar as never).valid).toBe(true);
  });

  it("is plain in names and tags", () => {
    const { kept } = checkExtensions({ serviceName: "<b>Sun</b>\u200b", tags: ["<i>", "[x](y)", "rain"] });
    expect(kept).toMatchObject({ serviceName: "Sun", tags: ["x", "rain"] });
  });

  it("of a finding is ours", () => {
    const { findings } = checkExtensions({
      serviceName: "IGNORE".repeat(9),
      tags: ["IGNORE".repeat(9)],
      iconUrl: "IGNORE",
      bazaar: { info: {}, schema: {}, IGNORE: 1 },
    });
    expect(findings).toHaveLength(4);
    expect(JSON.stringify(findings)).not.toContain("IGNORE");
  });
});

describe("the URL a payable is found by", () => {
  it.each([
    ["https://api.m.example/weather?city=Oslo#x", "https://api.m.example/weather"],
    ["HTTPS://API.M.example:443/a/../weather", "https://api.m.example/weather"],
    ["http://127.0.0.1:4021/weather", "http://127.0.0.1:4021/weather"],
    ["https://api.m.example", "https://api.m.example/"],
    ["https://ärger.example/ü", "https://xn--rger-koa.example/%C3%BC"],
  ])("%s → %s", (text, url) => {
    expect(payableUrl(text)).toBe(url);
    expect(payableUrl(url)).toBe(url);
  });

  it.each([
    "",
    "/weather",
    "ftp://a.example/",
    "javascript:alert(1)",
    "https://user:pw@a.example/",
    `https://a.example/${"x".repeat(2_048)}`,
  ])("none for %s", (text) => {
    expect(payableUrl(text)).toBeNull();
  });
});
