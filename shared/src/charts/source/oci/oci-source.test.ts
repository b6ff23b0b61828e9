import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createFakeClock } from "../../../runtime/time/testing/index.ts";
import { accessTo } from "../index.ts";
import {
  createTestClient,
  describeRequest,
  digestOf,
  type Respond,
  registryOf,
  send,
  startTestServer,
  testChart,
} from "../testing/index.ts";

const charts = {
  "1.0.0": testChart("one"),
  "1.1.0_b.1": testChart("two"),
  "v2.0.0": testChart("three"),
  latest: testChart("four"),
};

function at(host: string) {
  const source = { kind: "oci", repository: `oci://${host}/charts/x` } as const;
  return [source, accessTo(source)] as const;
}

describe("an OCI repository", () => {
  it("resolves a constraint with the tags and one manifest", async () => {
    await using server = await startTestServer(registryOf(charts));
    await using client = createTestClient();
    const [source, access] = at(server.host);

    const { pin } = await client.resolve(source, "1.x", access);

    const { manifestDigest, layerDigest, archive } = charts["1.1.0_b.1"];
    assert.deepEqual(pin, {
      kind: "oci",
      version: "1.1.0+b.1",
      repository: source.repository,
      tag: "1.1.0_b.1",
      manifestDigest,
      layerDigest,
      layerSizeBytes: archive.length,
    });
    assert.deepEqual(server.seen.map(describeRequest), [
      "GET tags/list?n=10000",
      "GET manifests/1.1.0_b.1",
    ]);
    assert.match(
      server.seen[1]?.headers.accept ?? "",
      /application\/vnd\.oci\.image\.manifest\.v1\+json, .*docker/,
    );
  });

  it("resolves an exact version without listing the tags", async () => {
    await using server = await startTestServer(registryOf(charts));
    await using client = createTestClient();
    const [source, access] = at(server.host);

    const { pin } = await client.resolve(source, "1.1.0+b.1", access);

    assert.equal(pin.kind === "oci" && pin.tag, "1.1.0_b.1");
    assert.deepEqual(server.seen.map(describeRequest), ["GET manifests/1.1.0_b.1"]);
  });

  it("lists the tags when an exact version has another spelling", async () => {
    await using server = await startTestServer(registryOf(charts));
    await using client = createTestClient();
    const [source, access] = at(server.host);

    const { pin } = await client.resolve(source, "2.0.0", access);

    assert.deepEqual(
      [pin.kind === "oci" && pin.tag, pin.kind === "oci" && pin.version],
      ["v2.0.0", "v2.0.0"],
    );
  });

  it("uses cached tags and manifests that are fresh enough", async () => {
    await using server = await startTestServer(registryOf(charts));
    const clock = createFakeClock();
    await using client = createTestClient({ clock });
    const [source, access] = at(server.host);
    const resolve = () =>
      client.resolve(source, "1.x", access, { since: clock.monotonic() - 1000 });

    await resolve();
    await clock.advance(1000);
    await resolve();
    assert.equal(server.seen.length, 2);

    await clock.advance(1);
    await resolve();
    assert.deepEqual(server.seen.slice(2).map(describeRequest), [
      "GET tags/list?n=10000",
      "HEAD manifests/1.1.0_b.1",
    ]);
  });

  it("makes one HEAD request when the tag still points to the same manifest", async () => {
    const served = { ...charts };
    await using server = await startTestServer((request, response) =>
      registryOf(served)(request, response),
    );
    await using client = createTestClient();
    const [source, access] = at(server.host);

    await client.resolve(source, "1.0.0", access);
    await client.resolve(source, "1.0.0", access);
    served["1.0.0"] = testChart("one, again");
    const { pin } = await client.resolve(source, "1.0.0", access);

    assert.deepEqual(
      server.seen.map(({ method }) => method),
      ["GET", "HEAD", "HEAD", "GET"],
    );
    assert.equal(pin.kind === "oci" && pin.manifestDigest, served["1.0.0"].manifestDigest);
  });

  it("gets one request for all callers at the same time", async () => {
    await using server = await startTestServer(registryOf(charts));
    await using client = createTestClient();
    const [source, access] = at(server.host);
    await client.list(source, access);

    await Promise.all(Array.from({ length: 50 }, () => client.resolve(source, "*", access)));

    assert.equal(server.seen.length, 3);
  });

  it("supports the layer type of old versions of Helm", async () => {
    const chart = testChart("old", "application/tar+gzip");
    await using server = await startTestServer(registryOf({ "1.0.0": chart }));
    await using client = createTestClient();
    const [source, access] = at(server.host);

    const { pin } = await client.resolve(source, "", access);

    assert.equal(pin.kind === "oci" && pin.layerDigest, chart.layerDigest);
  });
});

describe("a tag with an index of an image and a chart", () => {
  const image = JSON.stringify({
    schemaVersion: 2,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: digestOf("c") },
    layers: [
      { mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest: digestOf("l"), size: 1 },
    ],
  });
  const chart = charts["1.0.0"];
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const linux = { os: "linux", architecture: "amd64" };
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      { mediaType, digest: digestOf(image), size: image.length, platform: linux },
      { mediaType, digest: chart.manifestDigest, size: chart.manifest.length },
    ],
  });
  const served = {
    ...charts,
    "1.0.0": { ...chart, manifest: index, manifestDigest: digestOf(index) },
  };
  const respond =
    (manifests: readonly string[]): Respond =>
    (request, response) => {
      const manifest = manifests.find((text) => request.path.endsWith(digestOf(text)));
      if (manifest !== undefined) return send(response, 200, manifest);
      return registryOf(served)(request, response);
    };

  it("has the chart, whose digest is that of the tag", async () => {
    await using server = await startTestServer(respond([image, chart.manifest]));
    await using client = createTestClient();
    const [source, access] = at(server.host);
    const resolve = () => client.resolve(source, "1.0.0", access);

    const { pin } = await resolve();
    assert.deepEqual(pin, {
      ...{ kind: "oci", version: "1.0.0", repository: source.repository, tag: "1.0.0" },
      manifestDigest: digestOf(index),
      layerDigest: chart.layerDigest,
      layerSizeBytes: chart.archive.length,
    });
    await resolve();

    assert.deepEqual(server.seen.map(describeRequest), [
      "GET manifests/1.0.0",
      `GET manifests/${digestOf(image)}`,
      `GET manifests/${chart.manifestDigest}`,
      "HEAD manifests/1.0.0",
    ]);
  });

  it("has no chart that is not the one of the index", async () => {
    const other = charts["v2.0.0"];
    await using server = await startTestServer((request, response) =>
      request.path.endsWith(chart.manifestDigest)
        ? send(response, 200, other.manifest)
        : respond([image])(request, response),
    );
    await using client = createTestClient();
    const [source, access] = at(server.host);

    await assert.rejects(client.resolve(source, "1.0.0", access), {
      code: "CHART_DIGEST_MISMATCH",
    });
  });
});

describe("a registry on this machine", () => {
  it("is used without TLS when it does not support it, and from then on at once", async () => {
    await using server = await startTestServer(registryOf(charts));
    await using client = createTestClient();
    const [source, access] = at(server.host.replace("127.0.0.1", "localhost"));

    await client.list(source, access);
    await client.list(source, access);

    assert.equal(server.seen.length, 2);
  });
});

describe("the response of a registry", () => {
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [],
  });
  const image = testChart("x", "application/vnd.oci.image.layer.v1.tar+gzip");
  const answers: readonly (readonly [
    name: string,
    respond: Respond,
    code: string,
    message: RegExp,
  ])[] = [
    [
      "no such repository",
      (_, r) =>
        send(
          r,
          404,
          '{"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known to registry"}]}',
        ),
      "CHART_NOT_FOUND",
      /repository oci:\/\/.*\/charts\/x not found in the registry: GET http.*tags\/list\?…: error code: 404 Not Found \(NAME_UNKNOWN\)/,
    ],
    [
      "no such version",
      registryOf(charts),
      "CHART_VERSION_NOT_FOUND",
      /no chart version found for oci:\/\/.*\/charts\/x:9\.9\.9: the registry lists 4 tags, the highest are v2.0.0, 1.1.0_b.1, 1.0.0/,
    ],
    ["nothing", registryOf({}), "CHART_VERSION_NOT_FOUND", /lists no tags/],
    [
      "only tags that are not versions",
      registryOf({ latest: testChart("x") }),
      "CHART_VERSION_NOT_FOUND",
      /lists one tag, which is not a version/,
    ],
    [
      "an image",
      registryOf({ "9.9.9": image }),
      "CHART_NOT_FOUND",
      /:9\.9\.9 is an artifact without a chart, not a Helm chart/,
    ],
    [
      "a list of images",
      registryOf({ "9.9.9": { ...image, manifest: index, manifestDigest: digestOf(index) } }),
      "CHART_NOT_FOUND",
      /:9\.9\.9 is a list of images, and no Helm chart is in it/,
    ],
    [
      "another manifest than its header declares",
      registryOf({ "9.9.9": { ...image, manifestDigest: digestOf("other") } }),
      "CHART_DIGEST_MISMATCH",
      /manifest digest mismatch: downloaded sha256:[0-9a-f]{64}, the header says sha256:/,
    ],
    [
      "not a manifest",
      (_, r) => send(r, 200, "<html>"),
      "REGISTRY_ANSWER",
      /manifests\/9\.9\.9: the response is not a manifest/,
    ],
    [
      "a rate limit",
      (_, r) =>
        send(r, 429, '{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}', {
          "retry-after": "7",
        }),
      "REGISTRY_RATE_LIMITED",
      /429 Too Many Requests \(TOOMANYREQUESTS\); the server asks to retry in 7 s/,
    ],
  ];
  for (const [name, respond, code, message] of answers) {
    it(`may have ${name}`, async () => {
      await using server = await startTestServer(respond);
      await using client = createTestClient();
      const [source, access] = at(server.host);

      await assert.rejects(
        client.resolve(source, "9.9.9", { ...access, plainHttp: true }),
        (thrown) => {
          assert.ok(thrown instanceof Error && "code" in thrown);
          assert.match(thrown.message, message);
          assert.equal(thrown.code, code);
          return true;
        },
      );
    });
  }
});
