import assert from "node:assert/strict";
import { readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, it } from "vitest";
import { accessTo, type DownloadPin } from "../index.ts";
import { digestOf, type Respond, send, testChart } from "../testing/index.ts";
import { ChartCache } from "./chart-cache.ts";
import { accessAt, archive, digest, pinAt, serve, setUp } from "./testing/index.ts";

describe("the private chart of another tenant", () => {
  const privately: Respond = ({ path, headers }, response) => {
    const isPrivate = path === "/private.tgz" && headers.authorization === undefined;
    send(response, isPrivate || path === "/copy.tgz" ? 403 : 200, archive);
  };

  it("is not opened by its digest and another address, nor by its address without its credentials", async () => {
    await using at = await setUp(privately);
    const owned = pinAt(at.server, digest, "private");
    const repository = { kind: "http", repository: at.server.origin, chart: "x" } as const;
    const others = accessTo(repository);
    await at.cache.fetch(owned, accessAt(at.server));

    for (const cache of [at.cache, at.newCache()]) {
      const forged = pinAt(at.server, digest, "copy");
      await assert.rejects(cache.fetch(forged, others), { code: "REGISTRY_UNAUTHORIZED" });
      await assert.rejects(cache.fetch(owned, others), { code: "REGISTRY_UNAUTHORIZED" });
      await cache.fetch(owned, accessAt(at.server));
    }

    assert.equal(at.server.paths().filter((path) => path === "/private.tgz").length, 3);
  });

  it("is not opened by the digest of its layer and another repository", async () => {
    const chart = testChart("x");
    await using at = await setUp(({ path }, response) =>
      send(response, path.startsWith("/v2/team-a/") ? 200 : 404, chart.archive),
    );
    const pinIn = (team: string): DownloadPin => ({
      kind: "oci",
      version: "1.0.0",
      repository: `oci://${at.server.host}/${team}/x`,
      tag: "1.0.0",
      manifestDigest: chart.manifestDigest,
      layerDigest: chart.layerDigest,
      layerSizeBytes: chart.archive.length,
    });
    const access = accessTo({ kind: "oci", repository: `oci://${at.server.host}/team-a/x` });
    await at.cache.fetch(pinIn("team-a"), access);

    await assert.rejects(at.cache.fetch(pinIn("team-b"), access), { code: "CHART_DOWNLOAD" });
  });

  it("has no credentials in the name of its file", async () => {
    await using at = await setUp(serve);

    await at.cache.fetch(pinAt(at.server), accessAt(at.server));
    await using elsewhere = await setUp(serve);
    await elsewhere.cache.fetch(pinAt(at.server), accessAt(at.server));

    // The same chart with the same credentials has another name in another cache.
    assert.notDeepEqual(await at.files(), await elsewhere.files());
  });
});

describe("the cache of charts", () => {
  it("reports that it cannot be written", async () => {
    await using at = await setUp(serve);
    await writeFile(join(at.dir, "file"), "");
    const blocked = new ChartCache(
      { fetch: () => assert.fail("a request was sent") },
      { dir: join(at.dir, "file", "cache") },
    );

    await assert.rejects(blocked.fetch(pinAt(at.server), accessAt(at.server)), {
      code: "CHART_CACHE",
      message: `cache chart 1.0.0 at ${at.server.origin}/x.tgz: cannot write to the cache (ENOTDIR)`,
    });
  });

  it("evicts the least recently used chart, but none that is in use", async () => {
    const contents = new Map(["a", "b", "c"].map((name) => [name, gzipSync(name.repeat(10))]));
    const digestIn = (name: string) => digestOf(contents.get(name) ?? "");
    await using at = await setUp(
      ({ path }, response) => send(response, 200, contents.get(path.charAt(1)) ?? ""),
      { maxBytes: 2 * (contents.get("a")?.length ?? 0) },
    );
    const fetch = async (name: string) => {
      await at.clock.advance(1000);
      return await at.cache.fetch(pinAt(at.server, digestIn(name), name), accessAt(at.server));
    };
    const cached = async () => {
      const files = await at.files();
      return [...contents.keys()].filter((name) =>
        files.some((file) => file.includes(digestIn(name).slice(7))),
      );
    };

    const [a, b, again] = [await fetch("a"), await fetch("b"), await fetch("a")];
    b.release();
    (await fetch("c")).release();
    assert.deepEqual(await cached(), ["a", "c"], "b was used last before a");

    (await fetch("b")).release();
    assert.deepEqual(await cached(), ["a", "b"], "a is older than c, and in use");

    a.release();
    a.release();
    (await fetch("c")).release();
    assert.deepEqual(await cached(), ["a", "c"], "a is still in use by another");

    again.release();
    (await fetch("b")).release();
    assert.deepEqual(await cached(), ["b", "c"]);
  });

  it("keeps a chart that is being fetched again when another one is downloaded", async () => {
    const contents = new Map(["a", "b"].map((name) => [name, gzipSync(name.repeat(10))]));
    await using at = await setUp(
      ({ path }, response) => send(response, 200, contents.get(path.charAt(1)) ?? ""),
      { maxBytes: 0 },
    );
    const fetch = (name: string) =>
      at.cache.fetch(
        pinAt(at.server, digestOf(contents.get(name) ?? ""), name),
        accessAt(at.server),
      );
    (await fetch("a")).release();

    const [a] = await Promise.all([fetch("a"), fetch("b")]);

    assert.deepEqual(await readFile(a.path), contents.get("a"));
  });

  it("removes the partial files of a killed process", async () => {
    await using at = await setUp(serve);
    await writeFile(join(at.dir, "part-old"), "x");
    await writeFile(join(at.dir, "part-new"), "x");
    await utimes(join(at.dir, "part-old"), 0, 0);

    await at.cache.fetch(pinAt(at.server), accessAt(at.server));

    assert.deepEqual(
      (await at.files()).filter((name) => name.startsWith("part")),
      ["part-new"],
    );
  });
});
