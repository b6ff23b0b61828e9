/** TCP connections to a Git server that keep the egress policy: direct, or through a proxy. */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import {
  checkHost,
  describeNetworkFailure,
  EgressDenied,
  type EgressPolicy,
  permittedAddresses,
  type ResolveAll,
} from "../transport/index.ts";
import { createByteReader } from "./byte-reader.ts";
import { openSocks } from "./socks-client.ts";

export interface Endpoint {
  /** An address of IPv6 has no brackets. */
  readonly host: string;
  readonly port: number;
}

/** `address`: with http, https or socks5. */
export interface GitProxy {
  readonly address: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** The administrator's, wherever it is; a tenant's is subject to the egress policy. */
  readonly isTrusted: boolean;
}

export type Dial = (to: Endpoint, proxy: GitProxy | undefined) => Promise<Socket>;

export interface DialDeps {
  readonly egress: EgressPolicy;
  readonly connectTimeoutMs: number;
  readonly resolveAll?: ResolveAll | undefined;
}

export function createDial({ egress, connectTimeoutMs, resolveAll }: DialDeps): Dial {
  async function direct(to: Endpoint, subject?: string): Promise<Socket> {
    const addresses = await permittedAddresses(to, egress, resolveAll, subject);
    let problem: unknown;
    for (const { address } of addresses) {
      try {
        return await open({ host: address, port: to.port }, connectTimeoutMs);
      } catch (thrown) {
        problem = thrown;
      }
    }
    throw problem;
  }

  return async (to, proxy) => {
    if (proxy === undefined) return direct(to);
    // The proxy resolves names itself.
    const host = to.host.includes(":") ? `[${to.host}]` : to.host;
    checkHost(new URL(`http://${host}:${to.port}`), egress);
    const url = new URL(proxy.address);
    const at = {
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port === "" ? (defaultPorts[url.protocol] ?? 1080) : Number(url.port),
    };
    const credentials = {
      username: proxy.username ?? decodeURIComponent(url.username),
      password: proxy.password ?? decodeURIComponent(url.password),
    };
    let socket: Socket | undefined;
    try {
      socket = proxy.isTrusted ? await open(at, connectTimeoutMs) : await direct(at, "the proxy");
      return url.protocol.startsWith("socks")
        ? await openSocks(socket, to, credentials, connectTimeoutMs)
        : await openByConnect(socket, `${host}:${to.port}`, url, credentials, connectTimeoutMs);
    } catch (thrown) {
      socket?.destroy();
      if (thrown instanceof EgressDenied) throw thrown;
      throw new Error(`through the proxy: ${describeNetworkFailure(thrown)}`);
    }
  };
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function open({ host, port }: Endpoint, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

/** A connection by the method CONNECT of HTTP; to a proxy with https by TLS. */
async function openByConnect(
  plain: Socket,
  target: string,
  proxy: URL,
  { username, password }: { readonly username: string; readonly password: string },
  timeoutMs: number,
): Promise<Socket> {
  const socket =
    proxy.protocol === "https:" ? await secured(plain, proxy.hostname, timeoutMs) : plain;
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  const authorization = username === "" ? [] : [`Proxy-Authorization: Basic ${basic}`];
  const read = createByteReader(socket, timeoutMs);
  socket.write(
    [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...authorization, "", ""].join("\r\n"),
  );
  let head = "";
  while (!head.endsWith("\r\n\r\n") && head.length < maxHeadBytes)
    head += (await read(1)).toString("latin1");
  const [, status] = /^HTTP\/1\.\d (\d{3})/.exec(head) ?? [];
  if (status !== "200")
    throw new Error(
      status === undefined
        ? "the proxy answered something else than HTTP"
        : `the proxy answered ${status} to CONNECT`,
    );
  read.release();
  return socket;
}

const maxHeadBytes = 16 * 1024;

function secured(socket: Socket, servername: string, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = connectTls({ socket, ...(isIP(servername) === 0 && { servername }) });
    const timer = setTimeout(
      () => secure.destroy(new Error("the proxy did not complete the TLS handshake")),
      timeoutMs,
    );
    secure.once("error", (error: Error) => {
      clearTimeout(timer);
      reject(error);
    });
    secure.once("secureConnect", () => {
      clearTimeout(timer);
      resolve(secure);
    });
  });
}
