/** The tools, resources and prompts that the conformance suite calls. They exist in tests only: what they try is the
 *  wiring around them, which is the product's own. */
import {
  acceptedContent,
  completable,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const state = createRequestStateCodec<{ readonly step: string }>({
  key: "a key for tests, thirty-two bytes long!",
});

const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
const image = { type: "image" as const, data: png, mimeType: "image/png" };
const user = (content: object) => ({ role: "user" as const, content: content as never });
const schema = (properties: Record<string, unknown>) =>
  ({ type: "object", properties, required: Object.keys(properties) }) as never;
const ask = (message: string, properties: Record<string, unknown>) =>
  inputRequired.elicit({ message, requestedSchema: schema(properties) });
const name = { name: { type: "string" } };

export function fixtureServer(): McpServer {
  const server = new McpServer(
    { name: "fixtures", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false, subscribe: true },
        prompts: { listChanged: false },
        logging: {},
      },
      requestState: { verify: state.verify },
    },
  );
  plainTools(server);
  schemaTools(server);
  talkingTools(server);
  askingTools(server);
  resources(server);
  prompts(server);
  return server;
}

function plainTools(server: McpServer): void {
  const tool = (id: string, result: () => object) =>
    server.registerTool(id, { description: id, inputSchema: z.object({}) }, async () => result() as never);
  tool("test_simple_text", () => text("This is a simple text response for testing."));
  tool("test_image_content", () => ({ content: [image] }));
  tool("test_audio_content", () => ({ content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] }));
  tool("test_embedded_resource", () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  }));
  tool("test_multiple_content_types", () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }));
  tool("test_error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}

/** Words of JSON Schema that a server must pass on as they are, and an argument that travels in a header as well. */
function schemaTools(server: McpServer): void {
  const words = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  } as const;
  const inHeader = {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
  } as const;
  const tool = (id: string, json: object) =>
    server.registerTool(id, { description: id, inputSchema: fromJsonSchema(json as never) }, async () =>
      text("done"),
    );
  tool("json_schema_2020_12_tool", words);
  tool("test_custom_headers", inHeader);
}

function talkingTools(server: McpServer): void {
  server.registerTool(
    "test_tool_with_progress",
    { description: "progress", inputSchema: z.object({}) },
    async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100])
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
      return text("done");
    },
  );
  for (const id of ["test_logging_tool", "test_tool_with_logging"])
    server.registerTool(id, { description: "logging", inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      await mcpReq.log("info", "Tool execution started");
      return text("done");
    });
}

function askingTools(server: McpServer): void {
  const tool = (id: string, answer: (context: ServerContext) => Promise<object> | object) =>
    server.registerTool(
      id,
      { description: id, inputSchema: z.object({}) },
      async (_, context) => (await answer(context)) as never,
    );
  const responses = ({ mcpReq }: ServerContext) => mcpReq.inputResponses ?? {};

  for (const id of ["test_input_required_result_elicitation", "test_streaming_elicitation"])
    tool(id, (context) => {
      const given = acceptedContent<{ name: string }>(responses(context), "user_name");
      if (given) return text(`Hello, ${given.name}!`);
      return inputRequired({ inputRequests: { user_name: ask("What is your name?", name) } });
    });
  tool("test_missing_capability", () =>
    inputRequired({ inputRequests: { sample: sampling("Anything", 10) } }),
  );
  tool("test_input_required_result_sampling", (context) =>
    "capital_question" in responses(context)
      ? text(`Sampled: ${JSON.stringify(responses(context).capital_question)}`)
      : inputRequired({
          inputRequests: { capital_question: sampling("What is the capital of France?", 100) },
        }),
  );
  tool("test_input_required_result_list_roots", (context) =>
    "client_roots" in responses(context)
      ? text(`Roots: ${JSON.stringify(responses(context).client_roots)}`)
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } }),
  );
  tool("test_input_required_result_request_state", (context) => confirmed(context, "state-ok"));
  tool("test_input_required_result_tampered_state", (context) => confirmed(context, "untampered"));
  tool("test_input_required_result_multiple_inputs", async (context) => {
    const given = responses(context);
    if (["user_name", "greeting", "client_roots"].every((key) => key in given)) return text("all of it");
    return inputRequired({
      inputRequests: {
        user_name: ask("What is your name?", name),
        greeting: sampling("Generate a greeting", 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await state.mint({ step: "many" }),
    });
  });
  tool("test_input_required_result_multi_round", async (context) => {
    const given = responses(context);
    if ("step2" in given) return text("after three rounds");
    if ("step1" in given)
      return inputRequired({
        inputRequests: { step2: ask("Step 2: What is your favorite color?", { color: { type: "string" } }) },
        requestState: await state.mint({ step: "two" }),
      });
    return inputRequired({
      inputRequests: { step1: ask("Step 1: What is your name?", name) },
      requestState: await state.mint({ step: "one" }),
    });
  });
  // Asks only for what the client has said that it can do.
  tool("test_input_required_result_capabilities", ({ mcpReq }) => {
    const envelope = (mcpReq.envelope ?? {}) as Record<string, Record<string, unknown> | undefined>;
    const can = envelope["io.modelcontextprotocol/clientCapabilities"] ?? {};
    const inputRequests = {
      ...(can.elicitation ? { user_name: ask("What is your name?", name) } : {}),
      ...(can.sampling ? { sample: sampling("Anything", 10) } : {}),
    };
    return Object.keys(inputRequests).length > 0
      ? inputRequired({ inputRequests })
      : text("nothing can be asked");
  });
}

async function confirmed({ mcpReq }: ServerContext, words: string): Promise<object> {
  if (mcpReq.inputResponses && mcpReq.requestState()) return text(words);
  return inputRequired({
    inputRequests: { confirm: ask("Please confirm", { ok: { type: "boolean" } }) },
    requestState: await state.mint({ step: "confirm" }),
  });
}

function sampling(words: string, maxTokens: number) {
  const message = { role: "user" as const, content: { type: "text" as const, text: words } };
  return inputRequired.createMessage({ messages: [message], maxTokens });
}

function resources(server: McpServer): void {
  const staticText = "This is the content of the static text resource.";
  server.registerResource(
    "text",
    "test://static-text",
    { description: "Text", mimeType: "text/plain" },
    async (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: staticText }] }),
  );
  server.registerResource(
    "binary",
    "test://static-binary",
    { description: "Bytes", mimeType: "image/png" },
    async (uri) => ({ contents: [{ uri: uri.href, mimeType: "image/png", blob: png }] }),
  );
  server.registerResource(
    "watched",
    "test://watched-resource",
    { description: "Watched", mimeType: "text/plain" },
    async (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "still" }] }),
  );
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "By id", mimeType: "application/json" },
    async (uri, { id }) => {
      const data = { id, templateTest: true, data: `Data for ID: ${id}` };
      return { contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(data) }] };
    },
  );
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function prompts(server: McpServer): void {
  const simple = { type: "text", text: "This is a simple prompt for testing." };
  server.registerPrompt("test_simple_prompt", { description: "Simple" }, () => ({
    messages: [user(simple)],
  }));
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "With arguments",
      argsSchema: z.object({
        arg1: completable(z.string(), (value) => ["paris", "park"].filter((word) => word.startsWith(value))),
        arg2: z.string(),
      }),
    },
    ({ arg1, arg2 }) => ({
      messages: [user({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
    }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user({
          type: "resource",
          resource: {
            uri: resourceUri,
            mimeType: "text/plain",
            text: "Embedded resource content for testing.",
          },
        }),
        user({ type: "text", text: "Please process the embedded resource above." }),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image" }, () => ({
    messages: [user(image), user({ type: "text", text: "Please analyze the image above." })],
  }));
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks" }, ((
    context: ServerContext,
  ) => {
    const given = acceptedContent<{ context: string }>(context.mcpReq.inputResponses, "user_context");
    if (given) return { messages: [user({ type: "text", text: given.context })] };
    const question = ask("What context should the prompt use?", { context: { type: "string" } });
    return inputRequired({ inputRequests: { user_context: question } });
  }) as never);
}
