/** A cache of charts in a folder of its own, and a server that it fetches from. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createFakeClock } from "../../../../runtime/time/testing/index.ts";
import { accessTo, type DownloadPin } from "../../index.ts";
import {
  createTestClient,
  digestOf,
  type Respond,
  send,
  startTestServer,
  type TestServer,
} from "../../testing/index.ts";
import { ChartCache, type ChartCacheOptions } from "../chart-cache.ts";

export const archive = gzipSync("a chart");
export const digest = digestOf(archive);
export const serve: Respond = (_, response) => send(response, 200, archive);

export async function setUp(respond: Respond, options: Partial<ChartCacheOptions> = {}) {
  const dir = await mkdtemp(join(tmpdir(), "chart-cache-"));
  const server = await startTestServer(respond);
  const client = createTestClient();
  const clock = createFakeClock(Date.now());
  const newCache = () => new ChartCache({ fetch: client.fetch, clock }, { dir, ...options });
  return {
    dir,
    server,
    clock,
    /** The cache of another process. */
    newCache,
    cache: newCache(),
    files: async () => (await readdir(dir)).filter((name) => name !== "origin-key"),
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export function pinAt(server: TestServer, expected = digest, name = "x"): DownloadPin {
  return { kind: "http", version: "1.0.0", url: `${server.origin}/${name}.tgz`, digest: expected };
}

export function accessAt(server: TestServer) {
  return accessTo(
    { kind: "http", repository: server.origin, chart: "x" },
    { username: "me", password: "pw" },
  );
}
