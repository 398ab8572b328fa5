/** Takes webhooks and answers 200, as bare as Node can: `node --import tsx bench/receiver.ts PORT`. */
import { createServer } from "node:http";

const server = createServer((request, response) => {
  request.on("end", () => response.writeHead(200).end()).resume();
});
server.listen(Number(process.argv[2]), "127.0.0.1");
process.on("SIGTERM", () => server.close(() => process.exit(0)));
