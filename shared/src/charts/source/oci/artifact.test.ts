/** Artifacts as OCIRepositories read them, and the requests that each pass costs. */
import assert from "node:assert/strict";
import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import { describe, it } from "vitest";
import { accessTo } from "../index.ts";
import {
  createTestClient,
  describeRequest,
  digestOf,
  send,
  startTestServer,
  type TestServer,
} from "../testing/index.ts";

const helmLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const config = JSON.stringify({ name: "web", version: "1.2.3" });
const layer = { mediaType: helmLayer, digest: digestOf("layer"), size: 5 };
const prov = { mediaType: "application/vnd.prov", digest: digestOf("prov"), size: 4 };
const chart = JSON.stringify({
  schemaVersion: 2,
  config: {
    mediaType: "application/vnd.cncf.helm.config.v1+json",
    digest: digestOf(config),
    size: config.length,
  },
  layers: [prov, layer],
  annotations: { "org.opencontainers.image.version": "1.2.3" },
});
const index = JSON.stringify({
  schemaVersion: 2,
  manifests: [
    { digest: digestOf("arm"), platform: { os: "linux", architecture: "arm64" } },
    { digest: digestOf(chart), platform: { os: "linux", architecture: "amd64" } },
  ],
});

type Texts = Readonly<Record<string, string>>;

/** A registry with these manifests by tag or digest and these blobs. */
function startRegistry(tags: Texts, blobs: readonly string[] = []): Promise<TestServer> {
  const manifests = [...Object.values(tags), chart];
  return startTestServer((request, response) => {
    const [, kind, name = ""] = /\/(tags|manifests|blobs)\/(.+)$/.exec(request.path) ?? [];
    if (kind === "tags") return send(response, 200, JSON.stringify({ tags: Object.keys(tags) }));
    const from = kind === "blobs" ? [config, ...blobs] : kind === "manifests" ? manifests : [];
    const found = tags[name] ?? from.find((text) => digestOf(text) === name);
    if (found === undefined) return send(response, 404);
    const headers = { "docker-content-digest": digestOf(found) };
    send(response, 200, request.method === "HEAD" ? "" : found, headers);
  });
}

function queryTo(server: TestServer) {
  const location = { kind: "oci", repository: `oci://${server.host}/team/web` } as const;
  return { repository: location.repository, access: accessTo(location, { plainHttp: true }) };
}

describe("an artifact of a registry", () => {
  it("has the digest of its tag after one HEAD request", async () => {
    await using server = await startRegistry({ latest: chart });
    await using client = createTestClient();

    const tag = await client.artifacts.tagOf(queryTo(server), {}, undefined);
    const digest = await client.artifacts.digestOf(queryTo(server), tag ?? "");

    assert.equal(digest, digestOf(chart));
    assert.deepEqual(server.seen.map(describeRequest), ["HEAD manifests/latest"]);
  });

  it("has the digest of an index of platforms, and the chart of linux/amd64", async () => {
    await using server = await startRegistry({ latest: index });
    await using client = createTestClient();
    const query = queryTo(server);

    const digest = await client.artifacts.digestOf(query, "latest");
    const artifact = await client.artifacts.read(query, digest, helmLayer);

    assert.equal(digest, digestOf(index));
    assert.deepEqual(artifact, {
      annotations: { "org.opencontainers.image.version": "1.2.3" },
      layer: { mediaType: helmLayer, digest: layer.digest, sizeBytes: 5 },
      chart: { name: "web", version: "1.2.3" },
    });
  });

  it("has the chart of an index beside an image of linux/amd64", async () => {
    const image = JSON.stringify({ config: { ...layer, mediaType: "image" }, layers: [prov] });
    const manifests = [
      { digest: digestOf(image), platform: { os: "linux", architecture: "amd64" } },
      { digest: digestOf(chart), platform: { os: "unknown", architecture: "unknown" } },
    ];
    const both = JSON.stringify({ schemaVersion: 2, manifests });
    await using server = await startRegistry({ latest: both, image });
    await using client = createTestClient();
    const query = queryTo(server);

    const artifact = await client.artifacts.read(query, digestOf(both), helmLayer);

    assert.deepEqual(artifact.chart, { name: "web", version: "1.2.3" });
  });

  it("has its first layer by default, and no other for an unknown media type", async () => {
    await using server = await startRegistry({ latest: chart });
    await using client = createTestClient();
    const [query, digest] = [queryTo(server), digestOf(chart)];

    const { layer: first } = await client.artifacts.read(query, digest, undefined);

    assert.equal(first.digest, prov.digest);
    await assert.rejects(client.artifacts.read(query, digest, "text/plain"), {
      code: "CHART_NOT_FOUND",
      message: /no layer with media type 'text\/plain' in the artifact$/,
    });
  });

  it("is the digest before the constraint before the tag", async () => {
    await using server = await startRegistry({ "1.0.0": chart, "1.1.0": chart });
    await using client = createTestClient();
    const tagOf = (ref: Texts) => client.artifacts.tagOf(queryTo(server), ref, undefined);

    assert.equal(await tagOf({ digest: digestOf(chart), semver: "*", tag: "x" }), undefined);
    assert.equal(await tagOf({ semver: "*", tag: "x" }), "1.1.0");
    assert.equal(await tagOf({ tag: "x" }), "x");
    await assert.rejects(tagOf({ tag: "../../other/manifests/x" }), {
      message: "spec.ref.tag is not a tag of a registry",
    });
  });

  it("is an error with the request when the tag does not exist", async () => {
    await using server = await startRegistry({});
    await using client = createTestClient();

    await assert.rejects(client.artifacts.digestOf(queryTo(server), "latest"), {
      code: "CHART_NOT_FOUND",
      message: /^GET http:.*\/manifests\/latest: error code: 404 Not Found$/,
    });
  });
});

describe("the signatures of an artifact", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  const digest = digestOf(chart);
  const payload = JSON.stringify({
    critical: {
      identity: { "docker-reference": "" },
      image: { "docker-manifest-digest": digest },
      type: "cosign container image signature",
    },
  });
  const signature = signBytes("sha256", Buffer.from(payload), privateKey).toString("base64");
  const signed = JSON.stringify({
    schemaVersion: 2,
    layers: [
      {
        mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
        digest: digestOf(payload),
        size: payload.length,
        annotations: { "dev.cosignproject.cosign/signature": signature },
      },
    ],
  });
  const tag = digest.replace(":", "-");
  const referrers = JSON.stringify({
    schemaVersion: 2,
    manifests: [
      {
        digest: digestOf(signed),
        artifactType: "application/vnd.dev.cosign.artifact.sig.v1+json",
      },
    ],
  });
  const cases: readonly (readonly [string, Texts, boolean])[] = [
    ["are found behind the tag of cosign", { latest: chart, [`${tag}.sig`]: signed }, true],
    ["are found among the referrers", { latest: chart, [tag]: referrers, signed }, true],
    ["are none where the registry has none", { latest: chart }, false],
  ];
  for (const [what, tags, isSigned] of cases) {
    it(what, async () => {
      await using server = await startRegistry(tags, [payload]);
      await using client = createTestClient();

      assert.equal(await client.artifacts.isSigned(queryTo(server), digest, [pem]), isSigned);
    });
  }

  it("are an error when the registry fails, so that nothing counts as unsigned by mistake", async () => {
    await using server = await startTestServer((_, response) => send(response, 503));
    await using client = createTestClient();

    await assert.rejects(client.artifacts.isSigned(queryTo(server), digest, [pem]), {
      code: "REGISTRY_ANSWER",
    });
  });
});
