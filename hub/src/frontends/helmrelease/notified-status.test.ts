import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import type { Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { notifiedStatus } from "./notified-status.ts";

const commit = "a".repeat(40);
const git: Pin = {
  ...{ kind: "git", version: "1.0.0", url: "https://git.example.com/app", commit },
  ...{ path: "chart", build: {} },
};
const http: Pin = {
  ...{ kind: "http", version: "1.0.0", url: "https://charts.example.com/app-1.0.0.tgz" },
  digest: `sha256:${"b".repeat(64)}`,
};

function bundleOf(pin: Pin, version = "1.0.0"): Bundle {
  return {
    metadata: { name: "helmrelease-app", namespace: "prod" },
    spec: { helmOpOptions: { pins: [{ repo: "", chart: "app", version, pin }] } },
  };
}

describe("what the events of a HelmRelease say about its chart", () => {
  for (const [what, bundle, expected] of [
    ["from Git has its commit", bundleOf(git), `sha1:${commit}`],
    ["of another version from Git has none", bundleOf(git, "1.1.0"), undefined],
    ["from a HelmRepository has none", bundleOf(http), undefined],
    ["without a Bundle has none", undefined, undefined],
  ] as const)
    test(`one ${what}`, () => {
      const { version, originRevision } = notifiedStatus(
        { lastAttemptedRevision: "1.0.0" },
        bundle,
      );

      assert.equal(version, "1.0.0");
      assert.equal(originRevision, expected);
    });

  test("its version is that of the newest release while none was attempted", () => {
    const [digest, time] = ["sha256:aa", "2026-01-01T00:00:00Z"];
    const snapshot = {
      ...{ name: "app", namespace: "prod", version: 1, status: "deployed", digest },
      ...{ configDigest: digest, chartName: "app", chartVersion: "0.9.0", appVersion: "9" },
      ...{ firstDeployed: time, lastDeployed: time },
    };
    const { version, appVersion } = notifiedStatus({ history: [snapshot] }, undefined);

    assert.deepEqual([version, appVersion], ["0.9.0", "9"]);
  });
});
