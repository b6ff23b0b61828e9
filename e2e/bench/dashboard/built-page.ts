/** The page as its build makes it, and an empty one beside it. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "@flotilla/local/images";

export interface BuiltPage {
  readonly dir: string;
  /** The address of a page that has a heading and is long, and loads nothing. */
  readonly emptyPage: string;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const empty =
  "<!doctype html><title>empty</title><h1>Empty</h1><div style='height: 180000px'></div>";

export async function buildBenchPage(): Promise<BuiltPage> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-page-"));
  await buildPage(root, dir);
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(empty);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Listening on a TCP port, so the address is one.
  const { port } = server.address() as AddressInfo;
  return {
    dir,
    emptyPage: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The bytes of all scripts and styles of the page, as the hub at `address` sends them to a browser. */
export async function transferredBytes(address: string, { dir }: BuiltPage): Promise<number> {
  const names = (await readdir(join(dir, "assets"))).filter((name) => /\.(js|css)$/.test(name));
  const sizes = await Promise.all(names.map((name) => bodyBytes(`${address}/assets/${name}`)));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** As they are on the wire, compressed. */
function bodyBytes(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": "gzip, deflate, br" } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: HTTP ${response.statusCode}`));
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.once("end", () => resolve(bytes));
    }).once("error", reject);
  });
}
