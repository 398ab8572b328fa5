/** Closed-loop load over raw keep-alive sockets: the two cores are shared with what is measured, and node's own client
 *  would take most of one of them. */
import { connect, type Socket } from "node:net";

/** What one answer says: null when it is the wanted one, else the reason it is not. */
export type Judge = (status: number, body: string) => string | null;

export interface Load {
  readonly baseUrl: string;
  readonly path: string;
  readonly bodies: readonly string[];
  readonly concurrency: number;
  /** No request starts after this; those under way are waited for. */
  readonly seconds: number;
  readonly judge: Judge;
  /** Of each request, beside the usual ones. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Of one answer. */
  readonly timeoutMs?: number;
}

export interface LoadResult {
  readonly answered: number;
  readonly succeeded: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** Of the successes, sorted. */
  readonly latenciesMs: readonly number[];
  readonly failures: ReadonlyMap<string, number>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const OPEN_TIMEOUT_MS = 30_000;
const headEnd = Buffer.from("\r\n\r\n");

/** Sends each body once, `concurrency` at a time, until they run out or the time is up. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { bodies, concurrency, judge, timeoutMs = 60_000 } = load;
  const url = new URL(load.baseUrl);
  const requests = bodies.map((body) => request(url, load.path, body, load.headers?.()));
  const lines = await Promise.all(
    Array.from({ length: Math.min(concurrency, requests.length) }, () => Line.open(url)),
  );
  const latenciesMs: number[] = [];
  const failures = new Map<string, number>();
  const start = performance.now();
  const lastStart = start + load.seconds * 1000;
  let next = 0;
  let answered = 0;
  const work = async (line: Line) => {
    while (performance.now() < lastStart) {
      const bytes = requests[next];
      if (bytes === undefined) return;
      next += 1;
      const sent = performance.now();
      const reason = await line.ask(bytes, timeoutMs).then(
        ({ status, body }) => judge(status, body),
        (error: Error) => error.message,
      );
      answered += 1;
      if (reason === null) latenciesMs.push(performance.now() - sent);
      else failures.set(reason, (failures.get(reason) ?? 0) + 1);
    }
  };
  await Promise.all(lines.map(work));
  const seconds = (performance.now() - start) / 1000;
  for (const line of lines) line.close();
  latenciesMs.sort((a, b) => a - b);
  return { answered, succeeded: latenciesMs.length, seconds, latenciesMs, failures };
}

/** The smallest latency that `share` of the successes did not exceed; NaN without successes. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function request(
  url: URL,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const length = Buffer.byteLength(body);
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\naccept: application/json\r\n${more.join("")}content-length: ${length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** One connection, one request at a time; a broken one is opened anew for the next request. */
class Line {
  readonly #url: URL;
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  private constructor(url: URL) {
    this.#url = url;
  }

  static async open(url: URL): Promise<Line> {
    const line = new Line(url);
    await line.#connect();
    // A connection that the system has opened waits still for the server to accept it: one per turn of its event loop.
    await line.ask(Buffer.from(`GET /health HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`), OPEN_TIMEOUT_MS);
    return line;
  }

  async ask(bytes: Buffer, timeoutMs: number): Promise<Answer> {
    const socket = this.#socket ?? (await this.#connect());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#break(new Error("no answer in time")), timeoutMs);
      this.#waiting = {
        resolve: (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      socket.write(bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #connect(): Promise<Socket> {
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", (error) => this.#break(error));
    socket.on("close", () => {
      if (this.#socket === socket) this.#break(new Error("connection closed"));
    });
    this.#socket = socket;
    return socket;
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const head = this.#received.indexOf(headEnd);
    if (head < 0) return;
    const text = this.#received.toString("latin1", 0, head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    if (length === undefined) {
      this.#break(new Error("an answer without content-length"));
      return;
    }
    const start = head + headEnd.length;
    const end = start + Number(length);
    if (this.#received.length < end) return;
    const body = this.#received.toString("utf8", start, end);
    this.#received = this.#received.subarray(end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (/\r\nconnection: *close/i.test(text)) this.close();
    waiting?.resolve({ status: Number(text.slice(9, 12)), body });
  }

  #break(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#received = Buffer.alloc(0);
    this.close();
    waiting?.reject(error);
  }
}
