import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { SourceError } from "./source-error.ts";
import { sourceEvent } from "./source-event.ts";
import type { SourceResult, SourceStatus } from "./source-status.ts";

const group = "source.toolkit.fluxcd.io";

function read(revision: string, reason?: string): SourceResult {
  return {
    artifact: { revision, digest: "sha256:aa", url: "https://charts.example.com", path: "" },
    message: `stored ${revision}`,
    ...(reason !== undefined && { reason }),
  };
}

function had(revision: string, ready: "True" | "False" | "Unknown" = "True"): SourceStatus {
  const { artifact } = read(revision);
  return {
    artifact: { ...artifact, lastUpdateTime: "2026-01-01T00:00:00Z" },
    conditions: [{ type: "Ready", status: ready, reason: "any", message: "" }],
  };
}

describe("the event of reading a source", () => {
  for (const [what, before, result, expected] of [
    ["for the first time", undefined, read("1"), "Normal NewArtifact: stored 1"],
    ["with a new revision", had("1"), read("2"), "Normal NewArtifact: stored 2"],
    [
      "with a new revision of a chart",
      had("1"),
      read("2", "ChartPullSucceeded"),
      "Normal ChartPullSucceeded: stored 2",
    ],
    ["with the same revision", had("1"), read("1"), undefined],
    [
      "with the same revision after a change of its spec",
      had("1", "Unknown"),
      read("1"),
      undefined,
    ],
    [
      "after a failure",
      had("1", "False"),
      read("1"),
      "Normal Succeeded: recovered from a failure; stored 1",
    ],
    [
      "with a new revision after a failure",
      had("1", "False"),
      read("2"),
      "Normal NewArtifact: stored 2",
    ],
    [
      "that fails",
      had("1"),
      new SourceError("GitOperationFailed", "no route to host", {}),
      "Warning GitOperationFailed: no route to host",
    ],
  ] as const)
    test(`${what}: ${expected ?? "none"}`, () => {
      const event = sourceEvent(group, before, result);

      assert.equal(event && `${event.type} ${event.reason}: ${event.note}`, expected);
      if (event?.type === "Normal" && !(result instanceof SourceError))
        assert.deepEqual(event.metadata, { [`${group}/revision`]: result.artifact.revision });
    });
});
