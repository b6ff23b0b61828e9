/** TCP connections to a Git server that keep the egress policy: direct, or through a proxy. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import {
  checkHost,
  type EgressPolicy,
  permittedAddresses,
  type ResolveAll,
} from "../transport/index.ts";
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
  async function direct(to: Endpoint): Promise<Socket> {
    const addresses = await permittedAddresses(to, egress, resolveAll);
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
    const socket = proxy.isTrusted ? await open(at, connectTimeoutMs) : await direct(at);
    const credentials = {
      username: proxy.username ?? decodeURIComponent(url.username),
      password: proxy.password ?? decodeURIComponent(url.password),
    };
    try {
      return url.protocol.startsWith("socks")
        ? await openSocks(socket, to, credentials, connectTimeoutMs)
        : await openByConnect(socket, `${host}:${to.port}`, url, credentials, connectTimeoutMs);
    } catch (thrown) {
      socket.destroy();
      throw thrown;
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

function openByConnect(
  socket: Socket,
  target: string,
  proxy: URL,
  { username, password }: { readonly username: string; readonly password: string },
  timeoutMs: number,
): Promise<Socket> {
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === "https:" ? httpsRequest : httpRequest)({
      ...(proxy.protocol === "https:"
        ? { socket, servername: proxy.hostname }
        : { createConnection: () => socket }),
      host: proxy.hostname,
      method: "CONNECT",
      path: target,
      agent: false,
      timeout: timeoutMs,
      headers: {
        host: target,
        ...(username !== "" && { "proxy-authorization": `Basic ${basic}` }),
      },
    });
    request.once("connect", ({ statusCode }, tunnel, head) => {
      if (statusCode !== 200) {
        tunnel.destroy();
        reject(new Error(`the proxy answered ${statusCode} to CONNECT`));
        return;
      }
      if (head.length > 0) tunnel.unshift(head);
      // Both kinds of request hand over the socket of the connection.
      resolve(tunnel as Socket);
    });
    request.once("response", ({ statusCode }) => {
      reject(new Error(`the proxy answered ${statusCode} to CONNECT`));
      request.destroy();
    });
    request.once("timeout", () => request.destroy(new Error("the proxy did not answer CONNECT")));
    request.once("error", reject);
    request.end();
  });
}
