import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { request } from "undici";
import { type TestContext, test } from "vitest";
import { testDir } from "../testing/index.ts";
import { createChartServer } from "./chart-server.ts";

async function serve(t: TestContext): Promise<{ readonly dir: string; readonly url: string }> {
  const dir = await testDir(t);
  await writeFile(join(dir, "index.yaml"), "entries: {}\n");
  const server = createChartServer(dir).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { dir, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function get(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string; header(name: string): string }> {
  const answer = await request(url, { headers });
  return {
    status: answer.statusCode,
    text: await answer.body.text(),
    header: (name) => String(answer.headers[name]),
  };
}

test("returns 304 for an unchanged index, by ETag and by date", async (t) => {
  const { url } = await serve(t);
  const first = await get(`${url}/index.yaml`);

  const byTag = await get(`${url}/index.yaml`, { "if-none-match": first.header("etag") });
  const byWeakTag = await get(`${url}/index.yaml`, {
    "if-none-match": `"else", W/${first.header("etag")}`,
  });
  const byDate = await get(`${url}/index.yaml`, {
    "if-modified-since": first.header("last-modified"),
  });

  assert.equal(first.status, 200);
  assert.equal(first.text, "entries: {}\n");
  assert.equal(first.header("content-type"), "application/yaml");
  assert.deepEqual([byTag.status, byWeakTag.status, byDate.status], [304, 304, 304]);
  assert.equal(byTag.text, "");
});

test("returns an index that was replaced within the same second", async (t) => {
  const { dir, url } = await serve(t);
  const first = await get(`${url}/index.yaml`);
  await writeFile(join(dir, ".new"), "entries: []\n");
  await rename(join(dir, ".new"), join(dir, "index.yaml"));

  const second = await get(`${url}/index.yaml`, {
    "if-none-match": first.header("etag"),
    "if-modified-since": first.header("last-modified"),
  });

  assert.equal(second.status, 200);
  assert.equal(second.text, "entries: []\n");
});

test("serves only plain files of the folder", async (t) => {
  const { dir, url } = await serve(t);
  await mkdir(join(dir, "folder"));
  await writeFile(join(dir, ".hidden"), "half");

  for (const path of [
    "/",
    "/folder",
    "/.hidden",
    "/missing.tgz",
    "/..%2findex.yaml",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%ff",
  ]) {
    assert.equal((await get(`${url}${path}`)).status, 404, path);
  }
});

test("HEAD returns only headers, and other methods are rejected", async (t) => {
  const { url } = await serve(t);

  const head = await request(`${url}/index.yaml`, { method: "HEAD" });
  const post = await request(`${url}/index.yaml`, { method: "POST", body: "x" });
  await post.body.dump();

  assert.equal(await head.body.text(), "");
  assert.equal(head.headers["content-length"], "12");
  assert.equal(post.statusCode, 405);
});
