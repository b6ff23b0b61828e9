/** Repositories of a directory over HTTP or HTTPS, by the real `git http-backend`. */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { requireProgram } from "./programs.ts";

export interface GitHttpServer extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** Requests that were received, as `GET /app.git/info/refs?service=git-upload-pack`. */
  readonly seen: readonly string[];
  /** The address of a repository. */
  url(name: string): string;
}

export interface GitHttpServerOptions {
  /** The only accepted Authorization header. */
  readonly authorization?: string;
  readonly certificate?: { readonly certPem: string; readonly keyPem: string };
  /** Clients need a certificate of this authority. */
  readonly clientCa?: string;
  /** Answers itself, when it returns true. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** A server that lies: lists these commits for annotated tags, by those that the tags have. */
  readonly peeled?: ReadonlyMap<string, string>;
}

export async function startGitHttpServer(
  root: string,
  options: GitHttpServerOptions = {},
): Promise<GitHttpServer> {
  const git = requireProgram("git", "git");
  const seen: string[] = [];

  function handle(request: IncomingMessage, response: ServerResponse): void {
    seen.push(`${request.method} ${request.url}`);
    if (options.intercept?.(request, response) === true) return;
    const { authorization } = options;
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("denied");
      return;
    }
    const url = new URL(request.url ?? "/", "http://server");
    const backend = spawn(git, ["http-backend"], {
      env: {
        PATH: "/usr/bin:/bin",
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
        REQUEST_METHOD: request.method ?? "GET",
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        ...(request.headers["content-length"] !== undefined && {
          CONTENT_LENGTH: request.headers["content-length"],
        }),
        ...(request.headers["content-encoding"] !== undefined && {
          HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
        }),
        REMOTE_ADDR: "127.0.0.1",
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    request.pipe(backend.stdin).on("error", () => undefined);
    response.on("close", () => backend.kill());
    let head = Buffer.alloc(0);
    backend.stdout.on("data", function onHead(chunk: Buffer) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      backend.stdout.off("data", onHead);
      const headers = head.subarray(0, end).toString().split("\r\n");
      let status = 200;
      for (const line of headers) {
        const [, name = "", value = ""] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
        if (name.toLowerCase() === "status") status = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.writeHead(status);
      const body = new PassThrough();
      body.write(head.subarray(end + 4));
      backend.stdout.pipe(body);
      if (options.peeled === undefined) body.pipe(response);
      else void buffer(body).then((bytes) => response.end(lieAboutTags(bytes, options.peeled)));
    });
  }

  const { certificate, clientCa } = options;
  const server =
    certificate === undefined
      ? createServer(handle)
      : createTlsServer(
          {
            cert: certificate.certPem,
            key: certificate.keyPem,
            ...(clientCa !== undefined && {
              ca: clientCa,
              requestCert: true,
              rejectUnauthorized: true,
            }),
          },
          handle,
        );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`;

  return {
    origin,
    seen,
    url: (name) => `${origin}/${name}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers of `ls-refs` in version 2 of the protocol; others have no such text. The lengths of lines stay. */
function lieAboutTags(bytes: Buffer, peeled: ReadonlyMap<string, string> = new Map()): Buffer {
  let text = bytes.toString("latin1");
  for (const [commit, other] of peeled)
    text = text.replaceAll(`peeled:${commit}`, `peeled:${other}`);
  return Buffer.from(text, "latin1");
}
