/** A real SMTP server in the test process, which takes mail as it is told. */
import type { AddressInfo, Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";

/** What the server does with a mail: takes it, answers RCPT or DATA with a code, or takes it and hangs up before it says
 *  so. */
export type Manner =
  | "take"
  | { readonly rcpt: number }
  | { readonly data: number }
  | { readonly sender: number }
  | "hang-up";

export interface Arrived {
  readonly email: Email;
  readonly raw: string;
  /** Of the envelope. */
  readonly from: string;
  readonly to: readonly string[];
}

export interface SmtpServer {
  readonly url: string;
  /** Mails whose last byte came, in order; those that were refused then as well. */
  readonly arrived: Arrived[];
  /** For the next mails, one each; then it takes all. */
  readonly manners: Manner[];
  stop(): Promise<void>;
}

export async function startSmtp(): Promise<SmtpServer> {
  const arrived: Arrived[] = [];
  const manners: Manner[] = [];
  const sockets = new Set<Socket>();
  const now = () => manners[0] ?? "take";
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onMailFrom(_address, _session, answer) {
      const manner = now();
      if (typeof manner === "object" && "sender" in manner) return answer(refusal(manner.sender));
      answer();
    },
    onRcptTo(_address, _session, answer) {
      const manner = now();
      if (typeof manner !== "object" || !("rcpt" in manner)) return answer();
      manners.shift();
      answer(refusal(manner.rcpt));
    },
    onData(stream, { envelope }, answer) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const manner = manners.shift() ?? "take";
        const raw = Buffer.concat(chunks).toString("utf8");
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const email = await PostalMime.parse(raw);
        arrived.push({ email, raw, from, to: envelope.rcptTo.map(({ address }) => address) });
        if (manner === "hang-up") for (const socket of sockets) socket.destroy();
        else if (typeof manner === "object" && "data" in manner) answer(refusal(manner.data));
        else answer();
      });
    },
  });
  server.on("error", () => {}); // a connection that was cut
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    arrived,
    manners,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function refusal(responseCode: number): Error {
  return Object.assign(new Error("No such mailbox\r\nhere <script>"), { responseCode });
}
