import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, it } from "vitest";
import { accessTo, type DownloadPin } from "../index.ts";
import { type Respond, registryOf, send, startTestServer, testChart } from "../testing/index.ts";
import { accessAt, archive, digest, pinAt, serve, setUp } from "./testing/index.ts";

describe("a pinned chart", () => {
  it("is fetched with one request, and afterwards with none", async () => {
    await using at = await setUp(serve);

    const first = await at.cache.fetch(pinAt(at.server), accessAt(at.server));
    const second = await at.cache.fetch(pinAt(at.server), accessAt(at.server));
    const third = await at.newCache().fetch(pinAt(at.server), accessAt(at.server));

    const { path, release: _, ...file } = first;
    assert.deepEqual(file, { digest, sizeBytes: archive.length });
    assert.ok(path.startsWith(join(at.dir, digest.replace(":", "-"))));
    assert.deepEqual([second.path, third.path], [path, path]);
    assert.deepEqual(await readFile(first.path), archive);
    assert.equal(at.server.seen.length, 1);
    assert.equal(at.server.seen[0]?.headers.authorization, `Basic ${btoa("me:pw")}`);
  });

  it("is fetched once for all callers at the same time", async () => {
    await using at = await setUp(serve);

    const files = await Promise.all(
      Array.from({ length: 50 }, () => at.cache.fetch(pinAt(at.server), accessAt(at.server))),
    );

    assert.equal(new Set(files.map(({ path }) => path)).size, 1);
    assert.equal(at.server.seen.length, 1);
  });

  it("is fetched from a registry as the blob that the pin names", async () => {
    const chart = testChart("x");
    await using at = await setUp(registryOf({ "1.0.0": chart }));
    const repository = `oci://${at.server.host}/charts/x`;
    const { layerDigest, manifestDigest } = chart;
    const pin: DownloadPin = {
      kind: "oci",
      version: "1.0.0",
      repository,
      tag: "1.0.0",
      manifestDigest,
      layerDigest,
      layerSizeBytes: chart.archive.length,
    };

    const file = await at.cache.fetch(pin, accessTo({ kind: "oci", repository }));

    assert.equal(file.digest, layerDigest);
    assert.deepEqual(at.server.paths(), [`/v2/charts/x/blobs/${layerDigest}`]);
  });

  it("is fetched from the blob storage of a registry without credentials for that host", async () => {
    const chart = testChart("x");
    await using store = await startTestServer((_, response) => send(response, 200, chart.archive));
    await using at = await setUp(({ headers }, response) => {
      if (headers.authorization === undefined)
        return send(response, 401, "", { "www-authenticate": 'Basic realm="r"' });
      send(response, 307, "", { location: `${store.origin}/blob?signature=s` });
    });
    const repository = `oci://${at.server.host}/charts/x`;
    const { layerDigest, manifestDigest } = chart;
    const pin: DownloadPin = {
      kind: "oci",
      version: "1.0.0",
      repository,
      tag: "1.0.0",
      manifestDigest,
      layerDigest,
      layerSizeBytes: chart.archive.length,
    };

    await at.cache.fetch(
      pin,
      accessTo({ kind: "oci", repository }, { username: "me", password: "pw", plainHttp: true }),
    );

    assert.equal(at.server.seen[1]?.headers.authorization, `Basic ${btoa("me:pw")}`);
    assert.equal(store.seen[0]?.headers.authorization, undefined);
  });

  it("at another host than the repository's is fetched without credentials", async () => {
    await using other = await startTestServer(serve);
    await using at = await setUp(serve);

    await at.cache.fetch(pinAt(other), accessAt(at.server));

    assert.equal(other.seen[0]?.headers.authorization, undefined);
  });

  it("without a digest is cached by its address, in this process only", async () => {
    const contents = [archive, gzipSync("another chart")];
    await using at = await setUp((_, response) => send(response, 200, contents.shift() ?? ""));
    const pin: DownloadPin = { kind: "tarball", url: `${at.server.origin}/x.tgz` };

    const first = await at.cache.fetch(pin, accessAt(at.server));
    const second = await at.cache.fetch(pin, accessAt(at.server));
    const restarted = await at.newCache().fetch(pin, accessAt(at.server));

    assert.equal(first.digest, digest);
    assert.equal(second.path, first.path);
    assert.notEqual(restarted.digest, digest);
    assert.equal(at.server.seen.length, 2);
  });

  it("that was damaged on disk is fetched again", async () => {
    await using at = await setUp(serve);
    const { path } = await at.cache.fetch(pinAt(at.server), accessAt(at.server));

    await writeFile(path, "x".repeat(archive.length));
    await at.newCache().fetch(pinAt(at.server), accessAt(at.server));
    assert.deepEqual(await readFile(path), archive);

    await writeFile(path, "shorter");
    await at.cache.fetch(pinAt(at.server), accessAt(at.server));
    assert.deepEqual(await readFile(path), archive);
  });
});

describe("a chart that does not match its pin", () => {
  const big = gzipSync(
    Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * at * 7919) % 251)),
  );
  const cases: readonly (readonly [
    name: string,
    respond: Respond,
    code: string,
    message: RegExp,
  ])[] = [
    [
      "has another digest",
      (_, r) => send(r, 200, gzipSync("other")),
      "CHART_DIGEST_MISMATCH",
      new RegExp(
        `x.tgz: chart digest mismatch: downloaded sha256:[0-9a-f]{64}, index.yaml says ${digest}; fix the index or publish the chart again$`,
      ),
    ],
    [
      "is too large",
      (_, r) => send(r, 200, big),
      "CHART_DOWNLOAD",
      /the chart is larger than 200 bytes/,
    ],
    [
      "ends too early",
      (_, r) => void r.writeHead(200, { "content-length": "100" }).write("x", () => r.destroy()),
      "CHART_DOWNLOAD",
      /the connection was closed before the response was complete/,
    ],
    [
      "is being sent in an encoding that was not requested",
      (_, r) => void r.writeHead(200, { "content-encoding": "br" }).write("x"),
      "CHART_DOWNLOAD",
      /the response has the encoding br, which the request does not accept/,
    ],
    [
      "does not exist",
      (_, r) => send(r, 404),
      "CHART_DOWNLOAD",
      /GET http:.*x.tgz: error code: 404 Not Found/,
    ],
    [
      "is forbidden",
      (_, r) => send(r, 403, "pw is no good"),
      "REGISTRY_UNAUTHORIZED",
      /403 Forbidden; the credentials of the Secret do not permit this/,
    ],
  ];
  for (const [name, respond, code, message] of cases) {
    it(`because it ${name} leaves no file`, async () => {
      await using at = await setUp(respond, { maxChartBytes: 200 });

      await assert.rejects(at.cache.fetch(pinAt(at.server), accessAt(at.server)), (thrown) => {
        assert.ok(thrown instanceof Error && "code" in thrown);
        assert.match(thrown.message, message);
        assert.equal(thrown.code, code);
        return true;
      });
      assert.deepEqual(await at.files(), []);
    });
  }

  it("because it is a web page is rejected, with or without a digest", async () => {
    await using at = await setUp((_, response) => send(response, 200, "<html>log in</html>"));
    const bare: DownloadPin = { kind: "tarball", url: `${at.server.origin}/x.tgz` };

    for (const pin of [pinAt(at.server), bare]) {
      await assert.rejects(at.cache.fetch(pin, accessAt(at.server)), {
        code: "CHART_DOWNLOAD",
        message: /the response is not a packaged chart \(\.tgz\), 19 bytes$/,
      });
    }

    assert.deepEqual(await at.files(), []);
  });

  it("because a registry sends more bytes than the pin says is not read completely", async () => {
    const chart = testChart("x");
    await using at = await setUp((_, response) =>
      send(response, 200, Buffer.concat([chart.archive, Buffer.alloc(1000)])),
    );
    const repository = `oci://${at.server.host}/charts/x`;
    const { layerDigest, manifestDigest } = chart;
    const pin: DownloadPin = {
      kind: "oci",
      version: "1.0.0",
      repository,
      tag: "1.0.0",
      manifestDigest,
      layerDigest,
      layerSizeBytes: chart.archive.length,
    };

    await assert.rejects(at.cache.fetch(pin, accessTo({ kind: "oci", repository })), {
      code: "CHART_DIGEST_MISMATCH",
      message: /chart size mismatch: downloaded more than the \d+ bytes that the manifest says$/,
    });
    assert.deepEqual(await at.files(), []);
  });
});
