import { createServer as createHttp, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSafeFetch, type Fetched, type Resolved } from "../../../api/http/safe-fetch.ts";

const userAgent = "Farebox-test";

/** A port that the guard lets through, so that only the address can be what is refused. */
const PORT = 8443;
let hits = 0;
const trap = createServer((socket) => {
  hits += 1;
  socket.on("error", () => {});
  socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
});
const servers: Server[] = [];

beforeAll(
  () =>
    new Promise<void>((resolve, reject) => {
      trap.once("error", reject);
      trap.listen(PORT, "::", () => resolve());
    }),
);
afterAll(() => {
  trap.close();
  for (const server of servers) server.close().closeAllConnections();
});

async function serveOn(listener: RequestListener): Promise<string> {
  const server = createHttp(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const v4 = (address: string): Resolved => ({ address, family: 4 });
const v6 = (address: string): Resolved => ({ address, family: 6 });
/** What names resolve to here. */
const names: Readonly<Record<string, readonly Resolved[]>> = {
  localhost: [v4("127.0.0.1"), v6("::1")],
  "localhost.": [v4("127.0.0.1")],
  "127.0.0.1.nip.example": [v4("127.0.0.1")],
  "ten.example": [v4("10.0.0.1")],
  "metadata.google.internal": [v4("169.254.169.254")],
  "mixed.example": [v4("93.184.216.34"), v4("127.0.0.1")],
  "mixed6.example": [v6("2606:4700::1111"), v6("::1")],
  "mapped.example": [v6("::ffff:127.0.0.1")],
  "nat64.example": [v6("64:ff9b::7f00:1")],
  "ula.example": [v6("fd00::1")],
  "scoped.example": [v6("fe80::1%lo")],
  "nothing.example": [],
  "nonsense.example": [{ address: "not an address", family: 4 }],
};
const resolve = async (hostname: string) => names[hostname] ?? [v4("127.0.0.1")];
const guarded = createSafeFetch({ allowLocal: false, userAgent, resolve });
const local = createSafeFetch({ allowLocal: true, userAgent });

const problem = (fetched: Fetched) => (fetched.ok ? `answered ${fetched.status}` : fetched.problem);

/** Hosts that lead inside, each on https and a port that is allowed: only its address is wrong with it. */
const inside = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "127.0.0.1.",
  "2130706433",
  "017700000001",
  "0177.0.0.1",
  "0177.0.0.01",
  "0x7f.0.0.1",
  "0x7f.1",
  "0x7f000001",
  "0X7F000001",
  "0x7f.0x0.0x0.0x1",
  "0177.0x0.0.1",
  "127.0.0x0.1",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "0",
  "0.0.0.0",
  "0x0",
  "10.0.0.1",
  "10.1",
  "012.0.0.1",
  "167772161",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "0xc0a80001",
  "3232235521",
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "0251.0376.0251.0376",
  "100.64.0.1",
  "192.0.0.1",
  "192.88.99.1",
  "198.18.0.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000:0000:0000:0000:0000:0000:0000:0001]",
  "[::127.0.0.1]",
  "[::7f00:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
  "[::ffff:10.0.0.1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001::1]",
  "[fe80::1]",
  "[fec0::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[ff02::1]",
  "[100::1]",
  "[5f00::1]",
  ...Object.keys(names),
];

describe("the trap", () => {
  it("is there: whoever may go inside is caught by it", async () => {
    const before = hits;
    expect(problem(await local(`http://127.0.0.1:${PORT}/`))).toBe("answered 200");
    expect(problem(await local(`http://[::1]:${PORT}/`))).toBe("answered 200");
    expect(hits - before).toBe(2);
  });
});

describe("addresses that lead inside", () => {
  it("has no fewer than sixty spellings to try", () => {
    expect(new Set(inside).size).toBeGreaterThanOrEqual(60);
  });

  it.each(inside)("refuses https://%s before anything is dialled", async (host) => {
    const before = hits;
    const fetched = await guarded(`https://${host}:${PORT}/x402`);
    expect(["blocked-address", "url-not-allowed"]).toContain(problem(fetched));
    // A host that the URL parser takes is refused for its address.
    if (URL.canParse(`https://${host}/`)) expect(problem(fetched)).toBe("blocked-address");
    expect(hits - before).toBe(0);
  });

  it("refuses a name that turns inward between two requests", async () => {
    const answers = [[v4("192.0.2.1")], [v4("127.0.0.1")], [v6("::1")]];
    let asked = 0;
    const rebinding = createSafeFetch({
      allowLocal: false,
      userAgent,
      resolve: async () => answers[Math.min(asked++, 2)] ?? [],
    });
    const before = hits;
    for (let i = 0; i < 3; i += 1)
      expect(problem(await rebinding(`https://rebind.example:${PORT}/`))).toBe("blocked-address");
    expect(asked).toBe(3);
    expect(hits - before).toBe(0);
  });

  it("dials the very address that was checked, and asks for it once", async () => {
    const base = await serveOn((_, response) => void response.end("hello"));
    let asked = 0;
    const once = createSafeFetch({
      allowLocal: true,
      userAgent,
      resolve: async () => [v4(asked++ === 0 ? "127.0.0.1" : "127.0.0.2")],
    });
    expect(problem(await once(base.replace("127.0.0.1", "twice.example")))).toBe("answered 200");
    expect(asked).toBe(1);
  });

  it("lets nobody reach metadata and other link-local addresses, not even on a local deployment", async () => {
    for (const host of ["169.254.169.254", "[fe80::1]", "0.0.0.0", "224.0.0.1", "[::ffff:127.0.0.1]"])
      expect(problem(await local(`http://${host}:${PORT}/`))).toBe("blocked-address");
  });
});

describe("URLs that are no address of a merchant", () => {
  it.each([
    "http://example.com/",
    `http://127.0.0.1:${PORT}/`,
    "https://example.com:80/",
    "https://example.com:22/",
    "https://example.com:8080/",
    "https://user@example.com/",
    "https://user:secret@example.com/",
    "https://user:@example.com/",
    "https://:secret@example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "//example.com/",
    "example.com",
    "",
    "https://",
    "https://[::1",
    "https://exa mple.com/",
    `https://example.com/${"a".repeat(2_048)}`,
  ])("refuses %s", async (url) => {
    const before = hits;
    expect(problem(await guarded(url))).toBe("url-not-allowed");
    expect(hits - before).toBe(0);
  });
});

describe("an answer", () => {
  it("that redirects is handed over as it is, and nobody goes there", async () => {
    const to = [`http://127.0.0.1:${PORT}/`, `http://[::1]:${PORT}/`, `//localhost:${PORT}/`];
    for (const status of [301, 302, 303, 307, 308])
      for (const location of to) {
        const base = await serveOn((_, response) => void response.writeHead(status, { location }).end());
        const before = hits;
        const fetched = await local(base);
        expect(problem(fetched)).toBe(`answered ${status}`);
        expect(fetched.ok && fetched.headers.get("location")).toBe(location);
        expect(hits - before).toBe(0);
      }
  });

  it("is read to 64 kB and no further", async () => {
    let isClosed = false;
    const base = await serveOn((_, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
        response.once("drain", more);
      };
      more();
    });
    const fetched = await local(base);
    expect(fetched.ok && fetched.body.length).toBe(65_536);
    await expect.poll(() => isClosed).toBe(true);
  });

  it("that never comes, or never ends, is a timeout", async () => {
    const limits = { connectMs: 300, totalMs: 300, maxBytes: 100 };
    const hasty = createSafeFetch({ allowLocal: true, userAgent, limits });
    const silent = await serveOn(() => {});
    const endless = await serveOn((_, response) => void response.write("a"));
    const frozen = createSafeFetch({
      allowLocal: true,
      userAgent,
      limits,
      resolve: () => new Promise(() => {}),
    });
    expect(problem(await hasty(silent))).toBe("timeout");
    expect(problem(await hasty(endless))).toBe("timeout");
    expect(problem(await frozen("http://slow.example/"))).toBe("timeout");
    // nor does one that comes a byte at a time hold anybody up, whoever else may end it
    const trickling = await serveOn((_, response) => {
      const more = setInterval(() => response.write("a"), 20);
      response.on("close", () => clearInterval(more));
    });
    const { signal } = new AbortController();
    for (const request of [{}, { signal }]) expect(problem(await hasty(trickling, request))).toBe("timeout");
  });

  it("of nobody is told as such", async () => {
    const gone = await serveOn(() => {});
    servers.at(-1)?.close();
    expect(problem(await local(gone))).toBe("unreachable");
    const nameless = createSafeFetch({
      allowLocal: true,
      userAgent,
      resolve: () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" })),
    });
    expect(problem(await nameless("http://nobody.example/"))).toBe("unreachable");
  });

  it("ends when the caller gives up", async () => {
    const silent = await serveOn(() => {});
    const giveUp = new AbortController();
    const fetching = local(silent, { signal: giveUp.signal });
    giveUp.abort();
    expect(problem(await fetching)).toBe("timeout");
  });
});

describe("a request", () => {
  it("names us, carries no key of ours, and heeds no proxy of the environment", async () => {
    const seen: Record<string, unknown>[] = [];
    const base = await serveOn((request, response) => {
      seen.push({ ...request.headers, method: request.method });
      response.end();
    });
    const proxies = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    const before = Object.fromEntries(proxies.map((name) => [name, process.env[name]]));
    for (const name of proxies) process.env[name] = `http://127.0.0.1:${PORT}`;
    const caught = hits;
    try {
      const headers = { "x-a": "b", "user-agent": "somebody else" };
      await createSafeFetch({ allowLocal: true, userAgent })(base, { method: "POST", headers });
    } finally {
      for (const [name, value] of Object.entries(before))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    }
    expect(hits).toBe(caught);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: "POST", "user-agent": userAgent, "x-a": "b" });
    // what is packed could be larger than what is read of it
    expect(seen[0]).toHaveProperty("accept-encoding", "identity");
    for (const name of ["authorization", "cookie", "x-payment", "payment-signature"])
      expect(seen[0]).not.toHaveProperty(name);
  });

  it("leaves no connection behind for the next one", async () => {
    const base = await serveOn((_, response) => void response.end("hello"));
    let connections = 0;
    servers.at(-1)?.on("connection", () => {
      connections += 1;
    });
    for (let i = 0; i < 4; i += 1) expect(problem(await local(base))).toBe("answered 200");
    expect(connections).toBe(4);
  });
});
