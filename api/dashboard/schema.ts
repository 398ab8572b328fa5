import { z } from "@hono/zod-openapi";

/** What the sign-in form sends. `next` is a page of the dashboard to go on to. */
export const SignInForm = z.strictObject({
  key: z.string().max(300).default(""),
  next: z
    .string()
    .max(1_000)
    .regex(/^\/dashboard(?:\/[\w-]+)*(?:\?[\w%&*+,.:;=@~-]*)?$/)
    .optional()
    .catch(undefined),
});
