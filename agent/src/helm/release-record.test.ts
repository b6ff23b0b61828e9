import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Secret } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import {
  chartDigestLabel,
  contentDigest,
  decodeRecord,
  failedRecord,
  parseRelease,
  recordOf,
  recordSecretName,
  releaseLabels,
  rewrittenRecord,
} from "./release-record.ts";

const labels = {
  owner: "helm",
  name: "web",
  version: "3",
  status: "deployed",
  createdAt: "100",
  modifiedAt: "160",
};

function stored(json: string, extra: Readonly<Record<string, string>> = {}): Secret {
  const inner = gzipSync(json).toString("base64");
  return {
    metadata: {
      namespace: "apps",
      name: "sh.helm.release.v1.web.v3",
      resourceVersion: "7",
      labels: { ...labels, ...extra },
    },
    type: "helm.sh/release.v1",
    data: { release: Buffer.from(inner).toString("base64") },
  };
}

const ours = {
  [releaseLabels.deployment]: "web",
  [releaseLabels.uid]: "u",
  [releaseLabels.digest]: "d",
  [releaseLabels.revision]: "3",
};

describe("the labels of a release Secret", () => {
  test("identify a release of the agent", () => {
    assert.deepEqual(recordOf(stored("{}", ours)), {
      namespace: "apps",
      name: "web",
      revision: 3,
      status: "deployed",
      owner: { name: "web", uid: "u" },
      digest: "d",
      isOwn: true,
      version: "7",
      modifiedAtMs: 160_000,
    });
  });

  test("have the origin of rendered values", () => {
    assert.equal(recordOf(stored("{}", { ...ours, [releaseLabels.origin]: "o" }))?.origin, "o");
  });

  test("have no owner for a release that was installed manually", () => {
    const record = recordOf(stored("{}"));

    assert.equal(record?.isOwn, false);
    assert.equal(record.owner, undefined);
  });

  test("identify a revision that was created manually with copied labels", () => {
    const record = recordOf(stored("{}", { ...ours, [releaseLabels.revision]: "2" }));

    assert.equal(record?.isOwn, false);
    assert.deepEqual(record.owner, { name: "web", uid: "u" });
  });

  test("do not identify another Secret as a release", () => {
    for (const extra of [{ owner: "somebody" }, { version: "three" }])
      assert.equal(recordOf(stored("{}", extra)), undefined);
    assert.equal(recordOf({ metadata: { name: "plain" } }), undefined);
  });

  test("belong to a Secret named after release and revision", () => {
    assert.equal(recordSecretName({ name: "web", revision: 3 }), stored("{}").metadata.name);
  });
});

describe("a release Secret that is marked as failed", () => {
  const json =
    '{"name":"web","namespace":"apps","version":3,"info":{"status":"pending-upgrade","first":"t"},"config":{"big":9007199254740993,"text":"ü"}}';

  test("differs only in its status, and keeps exact numbers", async () => {
    const failed = await failedRecord(stored(json, { status: "pending-upgrade" }), "cut off");

    assert.equal(failed.metadata.labels?.["status"], "failed");
    assert.equal(failed.metadata.resourceVersion, "7");
    const text = await decodeRecord(failed);
    assert.match(text, /"big":9007199254740993/);
    assert.match(text, /"text":"ü"/);
    assert.match(text, /"info":\{"description":"cut off","first":"t","status":"failed"\}/);
    assert.equal(parseRelease(text, "it").status, "failed");
  });

  test("is rejected if it decompresses to more than the limit", async () => {
    const large = stored(" ".repeat(65 * 1024 * 1024));

    await assert.rejects(decodeRecord(large), { code: "RELEASE_UNREADABLE" });
  });

  test("is rejected with its name if it cannot be decoded", async () => {
    const broken = { ...stored(json), data: { release: "AAAA" } };

    await assert.rejects(
      failedRecord(broken, "cut off"),
      /read release Secret apps\/sh\.helm\.release\.v1\.web\.v3: /,
    );
  });
});

test("a release Secret with a replaced manifest differs only in the manifest, and keeps exact numbers", async () => {
  const json =
    '{"config":{"big":9007199254740993},"info":{"status":"deployed"},"manifest":"a","name":"web","namespace":"apps","version":3}';

  const rewritten = await rewrittenRecord(stored(json, ours), "b\n");

  assert.equal(await decodeRecord(rewritten), json.replace('"a"', '"b\\n"'));
  assert.deepEqual({ ...rewritten, data: {} }, { ...stored(json, ours), data: {} });
});

describe("a release in Helm's output", () => {
  test("is parsed", () => {
    const json = JSON.stringify({
      name: "web",
      namespace: "apps",
      version: 3,
      info: { status: "deployed" },
      manifest: "kind: ConfigMap\n",
      chart: { metadata: { version: "1.2.3", appVersion: "9" } },
    });

    assert.deepEqual(parseRelease(json, "it"), {
      namespace: "apps",
      name: "web",
      revision: 3,
      status: "deployed",
      manifest: "kind: ConfigMap\n",
      hooks: "[]",
      chartVersion: "1.2.3",
      appVersion: "9",
    });
  });

  test("has the same content digest after its hooks have run, and another one with another hook", () => {
    const digestOf = (hook: object): string =>
      contentDigest(
        parseRelease(
          JSON.stringify({
            name: "web",
            namespace: "apps",
            version: 3,
            info: { status: "deployed" },
            hooks: [hook],
          }),
          "it",
        ),
      );
    const hook = { name: "h", manifest: "kind: Job\n", events: ["pre-delete"] };

    assert.equal(digestOf(hook), digestOf({ ...hook, last_run: { phase: "Succeeded" } }));
    assert.notEqual(digestOf(hook), digestOf({ ...hook, manifest: "kind: Pod\n" }));
  });

  test("may have no manifest and no chart", () => {
    const json = '{"name":"web","namespace":"apps","version":1,"info":{"status":"failed"}}';

    assert.equal(parseRelease(json, "it").manifest, "");
    assert.equal(parseRelease(json, "it").chartVersion, "");
  });

  for (const json of ["", "Release installed", '{"name":"web"}']) {
    test(`is rejected if it is ${JSON.stringify(json)}`, () => {
      assert.throws(() => parseRelease(json, "what helm printed"), /read what helm printed: /);
    });
  }
});

describe("the digest of a chart in a label", () => {
  for (const digest of [
    `sha256:${"00".repeat(32)}`,
    `sha256:${"ff".repeat(32)}`,
    "sha256:fbefbe0123456789fbefbe0123456789fbefbe0123456789fbefbe0123456789",
  ]) {
    test(`is a valid label value, and is parsed back: ${digest}`, () => {
      const label = chartDigestLabel(digest);

      assert.match(label, /^[A-Za-z0-9][-A-Za-z0-9_.]{0,61}[A-Za-z0-9]$/);
      const record = recordOf(stored("{}", { ...ours, [releaseLabels.chartDigest]: label }));
      assert.equal(record?.chartDigest, digest);
    });
  }

  test("is undefined for an invalid label value", () => {
    for (const label of ["", "sha256-", "sha256-abc", "md5-abc"]) {
      const record = recordOf(stored("{}", { ...ours, [releaseLabels.chartDigest]: label }));
      assert.equal(record?.chartDigest, undefined);
    }
  });
});
