/**
 * The one way of a run of git to its server: a port on this machine. So the egress policy holds for the address that a
 * connection is really made to, a redirect leads to no other host, proxies of all kinds work the same for HTTP and SSH
 * without git having their passwords, and the bytes are counted while they arrive.
 */
import { randomBytes } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";
import { createByteReader } from "./byte-reader.ts";
import type { Endpoint } from "./dial.ts";

export interface TunnelOptions {
  /** `socks`: git names the host (HTTP). `forward`: each connection leads to it (SSH). */
  readonly mode: "socks" | "forward";
  readonly target: Endpoint;
  readonly dial: (to: Endpoint) => Promise<Socket>;
  /** From the server, over all connections. */
  readonly maxBytes: number;
}

/** Why connections were not made or ended, whatever git says about it. */
export type TunnelProblem =
  | { readonly kind: "too-large" }
  | { readonly kind: "other-host"; readonly host: string }
  | { readonly kind: "unreachable"; readonly thrown: unknown };

export interface Tunnel extends AsyncDisposable {
  readonly port: number;
  /** The username of the SOCKS proxy: nothing else on this machine uses it. */
  readonly username: string;
  readonly password: string;
  readonly problem: TunnelProblem | undefined;
  /** From the server so far. */
  readonly receivedBytes: number;
}

const greetingTimeoutMs = 10_000;

export async function openTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { mode, target, dial, maxBytes } = options;
  const username = randomBytes(12).toString("hex");
  const password = randomBytes(24).toString("hex");
  const sockets = new Set<Socket>();
  let problem: TunnelProblem | undefined;
  let receivedBytes = 0;
  let isClosed = false;

  function own(socket: Socket): Socket {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    if (isClosed) socket.destroy();
    return socket;
  }

  function stop(why: TunnelProblem): void {
    problem ??= why;
    for (const socket of sockets) socket.destroy();
  }

  async function handle(client: Socket): Promise<void> {
    const to = mode === "forward" ? target : await greet(client, username, password);
    if (to === undefined) {
      client.destroy();
      return;
    }
    if (!isTarget(to, target)) {
      problem ??= { kind: "other-host", host: `${to.host}:${to.port}` };
      client.destroy();
      return;
    }
    const server = await dial(to).catch((thrown: unknown) => {
      problem ??= { kind: "unreachable", thrown };
      client.destroy();
    });
    if (server === undefined) return;
    own(server);
    if (mode === "socks") client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    const counter = new Transform({
      transform(chunk: Buffer, _, done) {
        receivedBytes += chunk.length;
        if (receivedBytes > maxBytes) stop({ kind: "too-large" });
        done(null, chunk);
      },
    });
    client.pipe(server);
    server.pipe(counter).pipe(client);
    server.on("close", () => client.destroySoon());
    client.on("close", () => server.destroy());
  }

  const listener = createServer((client) => {
    own(client);
    handle(client).catch(() => client.destroy());
  });
  const port = await listen(listener);

  return {
    port,
    username,
    password,
    get problem() {
      return problem;
    },
    get receivedBytes() {
      return receivedBytes;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** What a client of SOCKS 5 asks for; undefined when it does not have the password. */
async function greet(
  client: Socket,
  username: string,
  password: string,
): Promise<Endpoint | undefined> {
  const read = createByteReader(client, greetingTimeoutMs);
  const [version, methods = 0] = await read(2);
  if (version !== 5 || !(await read(methods)).includes(2)) return undefined;
  client.write(Buffer.from([5, 2]));
  await read(1);
  const user = await readText(read);
  const secret = await readText(read);
  if (user !== username || secret !== password) return undefined;
  client.write(Buffer.from([1, 0]));
  const [, command, , type] = await read(4);
  if (command !== 1) return undefined;
  const host = await readHost(read, type);
  const port = (await read(2)).readUInt16BE(0);
  read.release();
  return { host, port };
}

async function readText(read: (count: number) => Promise<Buffer>): Promise<string> {
  const length = (await read(1)).readUInt8(0);
  return (await read(length)).toString();
}

async function readHost(
  read: (count: number) => Promise<Buffer>,
  type: number | undefined,
): Promise<string> {
  if (type === 1) return [...(await read(4))].join(".");
  if (type !== 4) return readText(read);
  const bytes = await read(16);
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** A server may redirect from HTTP to HTTPS. */
function isTarget(to: Endpoint, target: Endpoint): boolean {
  if (to.host.toLowerCase() !== target.host.toLowerCase()) return false;
  return to.port === target.port || (target.port === 80 && to.port === 443);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the tunnel has no port");
  return address.port;
}
