/** The files of the web page, as its build made them: in memory, compressed once, because a browser keeps them. */
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { Hono } from "hono";

interface PageFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly brotli?: Uint8Array<ArrayBuffer>;
  readonly gzip?: Uint8Array<ArrayBuffer>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
};
const index = "/index.html";
/** Their names have a digest of their content. */
const hashed = "/assets/";

/** Serves `dir`; an address without a file of its own is one of the page's, which index.html shows. */
export async function servePage(dir: string): Promise<Hono> {
  const files = await readFiles(dir);
  const app = new Hono();
  app.get("*", (context) => {
    const { path } = context.req;
    const file = files.get(path === "/" ? index : path);
    // A missing file of the build must not be index.html, which a script tag cannot use.
    const isHashed = path.startsWith(hashed);
    if (file === undefined && isHashed) return context.text("not found\n", 404);
    const found = file ?? files.get(index);
    if (found === undefined)
      return context.text("this hub was built without its page; the API is below /api/v1\n", 404);
    const accepted = context.req.header("accept-encoding") ?? "";
    const encoding =
      found.brotli && accepted.includes("br")
        ? "brotli"
        : found.gzip && accepted.includes("gzip")
          ? "gzip"
          : undefined;
    if (encoding !== undefined)
      context.header("content-encoding", encoding === "brotli" ? "br" : encoding);
    context.header("content-type", found.type);
    context.header("vary", "accept-encoding");
    context.header("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
    return context.body(encoding === undefined ? found.body : (found[encoding] ?? found.body));
  });
  return app;
}

async function readFiles(dir: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const type = types[extname(path)] ?? "application/octet-stream";
    const body = new Uint8Array(await readFile(path));
    const compressed = body.length < 1_024 ? {} : await compress(body);
    files.set(`/${path.slice(dir.length).replace(/^\/+/, "")}`, { type, body, ...compressed });
  }
  return files;
}

const deflate = { brotli: promisify(brotliCompress), gzip: promisify(gzip) };

async function compress(body: Uint8Array): Promise<Pick<PageFile, "brotli" | "gzip">> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  return {
    brotli: new Uint8Array(await deflate.brotli(body, { params })),
    gzip: new Uint8Array(await deflate.gzip(body)),
  };
}
