import type { z } from "zod";
import type { Call, Rate } from "./deps.ts";
import type { ToolResult } from "./result.ts";

/** One tool: what it is called, what it takes and gives, and what it does. */
export interface Tool<Input extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** Ours, fixed, under 600 characters: what it does, when to use it and when not, what to call next. */
  readonly description: string;
  /** Strict: a misspelt key is named, not dropped. */
  readonly input: Input;
  /** Loose at every level. A tool that answers with a payment challenge has none. */
  readonly output?: z.ZodType;
  /** `pays`: repeating it is harmless, but the first time moves money. */
  readonly effect: "reads" | "pays";
  readonly rate: Rate;
  run(call: Call, input: z.infer<Input>): Promise<ToolResult>;
}

/** Types a tool's `run` by its input schema. */
export function defineTool<Input extends z.ZodType>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}
