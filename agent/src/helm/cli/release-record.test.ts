import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Secret } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import {
  changedSecret,
  chartDigestLabel,
  recordOf,
  recordSecretName,
  releaseLabels,
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
      labelled: { name: "web", uid: "u" },
      digest: "d",
      isOwn: true,
      version: "7",
      modifiedAtMs: 160_000,
    });
  });

  test("have the origin of rendered values", () => {
    assert.equal(recordOf(stored("{}", { ...ours, [releaseLabels.origin]: "o" }))?.origin, "o");
  });

  test("name no deployment for a release that was installed manually", () => {
    const record = recordOf(stored("{}"));

    assert.equal(record?.isOwn, false);
    assert.equal(record.labelled, undefined);
  });

  test("identify a revision that was created manually with copied labels", () => {
    const record = recordOf(stored("{}", { ...ours, [releaseLabels.revision]: "2" }));

    assert.equal(record?.isOwn, false);
    assert.equal(record.labelled, undefined, "it was not created for that deployment");
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

test("a changed release Secret differs in its value, and in its status if that is given", () => {
  const secret = stored("{}", ours);

  const rewritten = changedSecret(secret, "new");
  const failed = changedSecret(secret, "new", "failed");

  assert.deepEqual(rewritten, { ...secret, data: { release: "new" } });
  assert.deepEqual(failed.metadata, {
    ...secret.metadata,
    labels: { ...secret.metadata.labels, status: "failed" },
  });
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
