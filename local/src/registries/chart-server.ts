/**
 * Serves the files of one folder over HTTP, with ETag, Last-Modified and 304 for polling clients. Only plain
 * files directly in the folder are served; a chart repository has no others.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._+-]*$/;
const contentTypes: Readonly<Record<string, string>> = {
  ".yaml": "application/yaml",
  ".tgz": "application/gzip",
  ".prov": "text/plain",
};

/** An HTTP server for the files in `dir`; the caller listens. */
export function createChartServer(dir: string): Server {
  return createServer((request, response) => {
    void answer(dir, request, response).catch((thrown: unknown) => {
      // The client has disconnected, or the file cannot be read.
      console.error(`${request.method ?? ""} ${request.url ?? ""}: ${String(thrown)}`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
}

async function answer(
  dir: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const name = nameOf(request.url);
  const file =
    name === undefined ? undefined : await open(join(dir, name), "r").catch(() => undefined);
  if (name === undefined || file === undefined) {
    response.writeHead(404, { "content-type": "text/plain" }).end("not found\n");
    return;
  }
  try {
    await send(file, name, request, response);
  } finally {
    await file.close();
  }
}

async function send(
  file: FileHandle,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const stat = await file.stat({ bigint: true });
  if (!stat.isFile()) {
    response.writeHead(404).end();
    return;
  }
  // Files are replaced by rename only, so inode, size and mtime in nanoseconds identify the content.
  const etag = `"${stat.ino.toString(36)}-${stat.size.toString(36)}-${stat.mtimeNs.toString(36)}"`;
  const modified = new Date(Number(stat.mtimeMs));
  const headers = { etag, "last-modified": modified.toUTCString(), "cache-control": "no-cache" };
  if (isUnchanged(request, etag, modified)) {
    response.writeHead(304, headers).end();
    return;
  }
  const type = contentTypes[extname(name)] ?? "application/octet-stream";
  response.writeHead(200, {
    ...headers,
    "content-type": type,
    "content-length": stat.size.toString(),
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  await pipeline(createReadStream("", { fd: file, autoClose: false }), response);
}

/** RFC 9110: If-Modified-Since is ignored when there is an If-None-Match. */
function isUnchanged(request: IncomingMessage, etag: string, modified: Date): boolean {
  const tags = request.headers["if-none-match"];
  if (tags !== undefined) {
    return tags
      .split(",")
      .some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(request.headers["if-modified-since"] ?? "");
  return !Number.isNaN(since) && Math.floor(modified.getTime() / 1000) * 1000 <= since;
}

function nameOf(url: string | undefined): string | undefined {
  try {
    const name = decodeURIComponent(new URL(url ?? "", "http://charts").pathname.slice(1));
    return namePattern.test(name) ? name : undefined;
  } catch {
    return undefined; // Not a valid URL.
  }
}
