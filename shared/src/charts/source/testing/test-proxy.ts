/** Proxies on a free port for tests: HTTP (forwarding and CONNECT) and SOCKS5, with a user and password. */
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";

export interface TestProxy extends AsyncDisposable {
  /** `host:port`. */
  readonly host: string;
  /** The requests that passed: `CONNECT host:port`, `GET http://…`, `SOCKS host:port`. */
  readonly passed: readonly string[];
}

export interface ProxyUser {
  readonly username: string;
  readonly password: string;
}

/** `names`: the addresses of names that only the proxy knows. */
export async function startHttpProxy(
  user?: ProxyUser,
  names: Readonly<Record<string, string>> = {},
): Promise<TestProxy> {
  const passed: string[] = [];
  const sockets = new Set<Socket>();
  const expected =
    user && `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}`;
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    expected === undefined || headers["proxy-authorization"] === expected;
  const server = createServer((incoming, outgoing) => {
    if (!isAllowed(incoming)) return void outgoing.writeHead(407).end();
    passed.push(`${incoming.method} ${incoming.url}`);
    const { "proxy-authorization": _, ...headers } = incoming.headers;
    const { method = "GET", url = "" } = incoming;
    const forwarded = httpRequest(url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded).on("error", () => outgoing.writeHead(502).end());
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    if (!isAllowed(incoming))
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    passed.push(`CONNECT ${incoming.url}`);
    const { hostname: name, port } = new URL(`http://${incoming.url}`);
    const hostname = names[name] ?? name;
    tunnel(socket, { hostname, port: Number(port) }, sockets, "HTTP/1.1 200 OK\r\n\r\n");
  });
  server.on("connection", (socket) => sockets.add(socket));
  return await listening(server, passed, sockets);
}

export async function startSocksProxy(user: ProxyUser): Promise<TestProxy> {
  const passed: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    serveSocks(socket, user, (target) => {
      passed.push(`SOCKS ${target.hostname}:${target.port}`);
      tunnel(socket, target, sockets, Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    });
  });
  return await listening(server, passed, sockets);
}

interface Target {
  readonly hostname: string;
  readonly port: number;
}

/** RFC 1928 and 1929: methods, user and password, CONNECT to an IPv4 address or a name. */
function serveSocks(socket: Socket, user: ProxyUser, open: (target: Target) => void): void {
  socket.once("data", () => {
    socket.write(Buffer.from([5, 2]));
    socket.once("data", (credentials: Buffer) => {
      const length = credentials[1] ?? 0;
      const username = credentials.subarray(2, 2 + length).toString();
      const password = credentials.subarray(3 + length).toString();
      const isAllowed = username === user.username && password === user.password;
      socket.write(Buffer.from([1, isAllowed ? 0 : 1]));
      if (!isAllowed) return void socket.end();
      socket.once("data", (request: Buffer) => open(targetOf(request)));
    });
  });
}

function targetOf(request: Buffer): Target {
  const isName = request[3] === 3;
  const hostname = isName
    ? request.subarray(5, 5 + (request[4] ?? 0)).toString()
    : [...request.subarray(4, 8)].join(".");
  return { hostname, port: request.readUInt16BE(request.length - 2) };
}

function tunnel(
  socket: Socket,
  { hostname, port }: Target,
  sockets: Set<Socket>,
  established: string | Buffer,
): void {
  const upstream = connect(port, hostname, () => {
    socket.write(established);
    upstream.pipe(socket).pipe(upstream);
  });
  sockets.add(upstream);
  for (const one of [socket, upstream]) {
    one.on("error", () => {
      socket.destroy();
      upstream.destroy();
    });
  }
}

async function listening(
  server: ReturnType<typeof createTcpServer>,
  passed: readonly string[],
  sockets: ReadonlySet<Socket>,
): Promise<TestProxy> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    passed,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
