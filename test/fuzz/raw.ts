/** Bytes that are no HTTP, or barely. */
import { connect } from "node:net";
import fc from "fast-check";

/** Pieces of requests, good and bad, from which the cases are put together. */
const lines = fc.constantFrom(
  "GET /health HTTP/1.1",
  "POST /x402/verify HTTP/1.1",
  "GET / HTTP/9.9",
  "GET /health",
  "GET  /health  HTTP/1.1",
  "get /health HTTP/1.1",
  "FOO /health HTTP/1.1",
  "GET http://elsewhere.example/health HTTP/1.1",
  "GET //elsewhere.example/ HTTP/1.1",
  "CONNECT elsewhere.example:443 HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "PRI * HTTP/2.0",
  "GET /\u0000 HTTP/1.1",
  "GET /%zz%00%ff HTTP/1.1",
  "GET /é HTTP/1.1",
  `GET /${"a".repeat(20_000)} HTTP/1.1`,
  "\u0016\u0003\u0001\u0002\u0000",
  "",
);
const headers = fc.constantFrom(
  "Host: x",
  "Host: x\r\nHost: y",
  "Host:",
  "Host : x",
  "Content-Length: 5",
  "Content-Length: 5\r\nContent-Length: 6",
  "Content-Length: -1",
  "Content-Length: 1e3",
  "Content-Length: 99999999999999999999",
  "Content-Length: 0x5",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nContent-Length: 3",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding : chunked",
  "Transfer-Encoding: \u000bchunked",
  "Expect: 100-continue",
  "Expect: nonsense",
  "Upgrade: websocket\r\nConnection: Upgrade",
  "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings",
  "Content-Type: application/json",
  "Content-Encoding: gzip",
  "X-A: b\rc",
  "X-A: b\nc: d",
  "X-A: \u0000",
  ": nameless",
  " folded: line",
  "X-\u00e9: 1",
  `X-Long: ${"a".repeat(17_000)}`,
  Array.from({ length: 300 }, (_, i) => `X-${i}: 1`).join("\r\n"),
);
const ends = fc.constantFrom("\r\n\r\n", "\n\n", "\r\r", "\r\n", "");
const bodies = fc.constantFrom(
  "",
  "{}",
  "5\r\nhello\r\n0\r\n\r\n",
  "zz\r\n",
  "-1\r\n",
  "FFFFFFFFFFFFFFFF\r\n",
  "5;ext=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
  "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
  "\u0000".repeat(64),
);

const cases = fc
  .tuple(lines, fc.array(headers, { maxLength: 4 }), ends, bodies)
  .map(([line, more, end, body]) => `${[line, "Connection: close", ...more].join("\r\n")}${end}${body}`);

/** Sends each on a connection of its own; gives the status lines that came, by how often. Nobody may answer 5xx. */
export async function fireRaw(
  baseUrl: string,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<ReadonlyMap<string, number>> {
  const answers = new Map<string, number>();
  const next = fc.sample(cases, { numRuns: count, seed })[Symbol.iterator]();
  const worker = async () => {
    for (const bytes of next) {
      const answer = await exchange(baseUrl, bytes);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return answers;
}

const quietMs = 1_000;

/** What came back first: its status, "nothing" where the server waits for more or hangs up. */
async function exchange(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let told = "";
  socket.on("data", (piece) => {
    told += piece.toString("latin1");
  });
  socket.on("error", () => {});
  socket.setTimeout(quietMs, () => socket.destroy());
  socket.write(bytes, "latin1");
  // Not `once` of node:events: a connection that is reset would be its error, and the end of the run.
  await new Promise((resolve) => socket.once("close", resolve));
  return /^HTTP\/1\.[01] (\d{3})/.exec(told)?.[1] ?? "nothing";
}
