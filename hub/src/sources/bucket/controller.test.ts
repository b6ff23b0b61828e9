import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { findCondition } from "@flotilla/shared/conditions";
import { type Bucket, buckets, type HelmChart, helmCharts } from "@flotilla/shared/flux";
import { objectsDigest } from "@flotilla/shared/source/bucket";
import { createTestClient, send, startTestServer } from "@flotilla/shared/source/testing";
import { pack } from "tar-stream";
import { type TestContext, test } from "vitest";
import { namespace, reading, startTestSources } from "../fluxsource/testing/index.ts";
import { pinOfArtifact } from "../helmchart/artifact.ts";
import { createHelmChartController } from "../helmchart/controller.ts";
import { chartsOfBuckets } from "../helmchart/from-bucket.ts";
import { createBucketController } from "./controller.ts";
import { createBucketListings } from "./listings.ts";

type Files = Map<string, string | Uint8Array>;

/** The part of S3 that a hub asks for. */
async function startBucket(t: TestContext, files: Files) {
  const etag = (content: string | Uint8Array) => Buffer.from(content).toString("hex").slice(0, 64);
  const server = await startTestServer(({ path }, response) => {
    const url = new URL(path, "http://s3");
    if (url.searchParams.has("list-type")) {
      const contents = [...files].map(
        ([key, content]) =>
          `<Contents><Key>${key}</Key><ETag>${etag(content)}</ETag><Size>${content.length}</Size></Contents>`,
      );
      return send(response, 200, `<ListBucketResult>${contents.join("")}</ListBucketResult>`);
    }
    const content = files.get(decodeURIComponent(url.pathname).replace("/box/", ""));
    if (content === undefined) return send(response, 404, "<Error><Code>NoSuchKey</Code></Error>");
    return send(response, 200, content, { etag: `"${etag(content)}"` });
  });
  t.onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

async function setUp(t: TestContext, files: Files) {
  const server = await startBucket(t, files);
  const sources = createTestClient();
  t.onTestFinished(() => sources.close());
  const client = sources.buckets;
  const test = await startTestSources(t);
  const { deps, flux, signer } = test;
  const listings = createBucketListings(client);
  const store = flux.buckets.store;
  const made = createHelmChartController({
    ...deps,
    sources: { Bucket: chartsOfBuckets({ store, client, listings, signer, ...reading(t) }) },
  });
  test.run(createBucketController({ ...deps, listings }).controller, made.controller);
  const pinOf = (name: string) => {
    const chart = test.get(helmCharts, name);
    if (chart === undefined) return undefined;
    const pin = pinOfArtifact("HelmChart", chart.metadata, chart.status?.artifact, signer);
    return pin?.kind === "bucket" ? pin : undefined;
  };
  const conditionOf = (type: string) => test.condition(buckets, "box", type);
  const request = (value: string) => test.request(buckets, "box", value);
  return { ...test, server, pinOf, conditionOf, request };
}

function bucketAt(endpoint: string, spec: Partial<NonNullable<Bucket["spec"]>> = {}): Bucket {
  return {
    metadata: { name: "box", namespace, uid: "u-1", generation: 1 },
    spec: {
      ...{ provider: "generic", endpoint, bucketName: "box", insecure: true },
      ...{ interval: "1h", timeout: "20s", ...spec },
    },
  };
}

function chartOf(name: string, spec: Partial<NonNullable<HelmChart["spec"]>>): HelmChart {
  return {
    metadata: { name, namespace, uid: `u-${name}`, generation: 1 },
    spec: {
      ...{ chart: "./charts/app", version: "*", interval: "1h" },
      ...{ sourceRef: { kind: "Bucket", name: "box" }, reconcileStrategy: "ChartVersion", ...spec },
    },
  };
}

/** A packaged chart, with Chart.yaml as its only file. */
async function packaged(text: string): Promise<Uint8Array> {
  const archive = pack();
  archive.entry({ name: "app/Chart.yaml" }, text);
  archive.finalize();
  return gzipSync(await buffer(archive));
}

test("a Bucket becomes Ready with its digest, and its charts are pinned to their own objects", async (t) => {
  const files: Files = new Map<string, string | Uint8Array>([
    ["charts/app/Chart.yaml", "name: app\nversion: 1.0.0\n"],
    ["charts/app/values.yaml", "a: 0\n"],
    ["app.tgz", await packaged("name: app\nversion: 2.0.0\n")],
    ["prod.yaml", "a: 1\n"],
  ]);
  const { server, rest, events, until, pinOf, conditionOf, request } = await setUp(t, files);
  rest.put(helmCharts, chartOf("plain", {}));
  rest.put(helmCharts, chartOf("each", { reconcileStrategy: "Revision" }));
  rest.put(helmCharts, chartOf("archive", { chart: "app.tgz" }));
  const valuesFiles = ["./prod.yaml", "none.yaml"];
  rest.put(helmCharts, chartOf("values", { valuesFiles, ignoreMissingValuesFiles: true }));
  rest.put(buckets, bucketAt(server.host));

  const pins = await until(() => {
    const all = ["plain", "each", "archive", "values"].flatMap((name) => pinOf(name) ?? []);
    return all.length === 4 ? all : undefined;
  });
  const status = rest.peek(buckets, { namespace, name: "box" })?.status;
  const revision = status?.artifact?.revision ?? "";
  assert.equal(conditionOf("Ready")?.status, "True");
  assert.equal(status?.artifact?.url, `http://${server.host}/box`);
  assert.deepEqual(
    pins.map(({ version, prefix, path }) => [version, prefix, path]),
    [
      ["1.0.0", "charts/app/", "charts/app"],
      [`1.0.0+${revision.slice(7, 19)}`, "charts/app/", "charts/app"],
      ["2.0.0", "app.tgz", "app.tgz"],
      ["1.0.0+1", undefined, "charts/app"],
    ],
  );
  assert.equal(pins[3]?.digest, revision);
  assert.deepEqual(pins[3].build, { valuesFiles: ["prod.yaml"] });
  const before = pins[0];

  files.set("other.txt", "x");
  files.set("charts/app/values.yaml", "a: 2\n");
  request("1");
  await until(() => (pinOf("each")?.version === pins[1]?.version ? undefined : true));
  await until(() =>
    rest.peek(helmCharts, { namespace, name: "plain" })?.status?.observedSourceArtifactRevision ===
    revision
      ? undefined
      : true,
  );
  assert.deepEqual(pinOf("plain"), before, "the version was not raised");

  files.set("charts/app/Chart.yaml", "name: app\nversion: 1.1.0\n");
  request("2");
  const raised = await until(() =>
    pinOf("plain")?.version === "1.1.0" ? pinOf("plain") : undefined,
  );
  const own = [...files].filter(([key]) => key.startsWith("charts/app/"));
  assert.equal(
    raised.digest,
    objectsDigest(
      own.map(([key, content]) => ({
        ...{ key, sizeBytes: content.length },
        etag: Buffer.from(content).toString("hex").slice(0, 64),
      })),
    ),
  );
  assert.ok(events.includes("Normal NewArtifact"));
});

const refused: readonly (readonly [
  spec: Partial<NonNullable<Bucket["spec"]>>,
  reason: string,
  message: RegExp,
])[] = [
  [{ provider: "azure" }, "InvalidProviderConfiguration", /spec.provider azure of a Bucket is not/],
  [{ provider: "aws" }, "InvalidProviderConfiguration", /aws without spec.secretRef/],
  [
    { provider: "gcp" },
    "InvalidProviderConfiguration",
    /gcp of a Bucket is not supported: use provider generic/,
  ],
  [{ sts: { provider: "ldap", endpoint: "https://h" } }, "InvalidSTSConfiguration", /spec.sts/],
  [{ provider: "aws", serviceAccountName: "x" }, "FeatureGateDisabled", /serviceAccountName/],
];
for (const [spec, reason, message] of refused) {
  test(`a Bucket with ${JSON.stringify(spec)} is stalled, and says what to use instead`, async (t) => {
    const { server, rest, until, conditionOf } = await setUp(t, new Map());
    rest.put(buckets, bucketAt(server.host, spec));

    const stalled = await until(() => conditionOf("Stalled"));
    assert.equal(stalled.reason, reason);
    assert.match(stalled.message ?? "", message);
    assert.deepEqual(server.paths(), []);
  });
}

test("a Bucket that cannot be read says why, and is read again", async (t) => {
  const { rest, events, until, conditionOf } = await setUp(t, new Map());
  rest.put(buckets, bucketAt("127.0.0.1:1"));

  const failed = await until(() => conditionOf("FetchFailed"));
  assert.equal(failed.reason, "BucketOperationFailed");
  assert.match(
    failed.message ?? "",
    /^list bucket http:\/\/127.0.0.1:1\/box: .*refused.*retrying at/,
  );
  assert.ok(events.includes("Warning BucketOperationFailed"));
});

test("an object that changes after the list has its Bucket listed again at once", async (t) => {
  const path = "charts/app/Chart.yaml";
  const files: Files = new Map([[path, "name: app\nversion: 1.0.0\n"]]);
  const { server, rest, events, until, pinOf } = await setUp(t, files);
  rest.put(buckets, bucketAt(server.host));
  await until(() => rest.peek(buckets, { namespace, name: "box" })?.status?.artifact);
  files.set(path, "name: app\nversion: 1.1.0\n");
  rest.put(helmCharts, chartOf("moved", {}));

  assert.equal((await until(() => pinOf("moved"))).version, "1.1.0");
  assert.ok(events.includes("Warning ChartPullError"));
});

test("an equal version is pinned again when its Bucket is elsewhere", async (t) => {
  const files: Files = new Map([["charts/app/Chart.yaml", "name: app\nversion: 1.0.0\n"]]);
  const { server, rest, until, pinOf } = await setUp(t, files);
  rest.put(buckets, bucketAt(server.host));
  rest.put(helmCharts, chartOf("plain", {}));
  await until(() => pinOf("plain"));
  const other = await startBucket(t, files);
  const known = rest.peek(buckets, { namespace, name: "box" });
  const { spec } = bucketAt(other.host);
  assert.ok(known !== undefined && spec !== undefined);

  rest.put(buckets, { ...known, metadata: { ...known.metadata, generation: 2 }, spec });

  await until(() => (pinOf("plain")?.endpoint === other.host ? true : undefined));
});

test("a chart that its Bucket does not have is stalled until another revision", async (t) => {
  const files: Files = new Map([["a", "a"]]);
  const { server, rest, until } = await setUp(t, files);
  rest.put(buckets, bucketAt(server.host));
  rest.put(helmCharts, chartOf("none", {}));
  rest.put(helmCharts, chartOf("out", { chart: "../x" }));

  for (const [name, message] of [
    ["none", /neither a Chart.yaml/],
    ["out", /climbs out/],
  ] as const) {
    const stalled = await until(() =>
      findCondition(rest.peek(helmCharts, { namespace, name })?.status?.conditions, "Stalled"),
    );
    assert.equal(stalled.reason, "InvalidChartReference");
    assert.match(stalled.message ?? "", message);
  }
});
