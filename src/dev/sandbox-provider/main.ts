/** The sandbox provider's process, on the file named in its command line. Secrets come in its first line of input, where
 *  nobody sees them; it says its port, and ends when its input does: it never outlives who started it. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { z } from "zod";
import { openBook } from "./book.ts";
import { callbacksTo } from "./callbacks.ts";
import { providerServer } from "./server.ts";

const Told = z.object({
  apiKey: z.string(),
  webhookSecret: z.string(),
  callbackUrl: z.string(),
  paceMs: z.number(),
});

const input = createInterface({ input: process.stdin });
input.once("close", () => process.exit(0));
process.once("SIGTERM", () => process.exit(0));
const [line] = await once(input, "line");
const file = z.string().parse(process.argv[2]);
const { apiKey, webhookSecret, callbackUrl, paceMs } = Told.parse(JSON.parse(String(line)));
const callbacks = callbacksTo({ url: callbackUrl, secret: webhookSecret });
const server = providerServer({ book: await openBook(file), callbacks, apiKey, paceMs });
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stdout.write(`${address.port}\n`);
});
