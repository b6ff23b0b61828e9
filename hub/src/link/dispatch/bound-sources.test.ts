import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { boundSources } from "./bound-sources.ts";

const deployment = (cluster: string, pin?: string, digest = "d", minute = 0): BundleDeployment => {
  const since = `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`;
  return {
    metadata: { name: "web", namespace: cluster, uid: cluster },
    spec: { deploymentID: "sha256:1", stagedDeploymentID: "sha256:1" },
    ...(pin !== undefined && { status: { source: { pin, digest, since } } }),
  };
};

describe("what the first cluster received binds all of them", () => {
  const rows: readonly (readonly [string, readonly BundleDeployment[], object])[] = [
    ["of none nothing", [deployment("a"), deployment("b")], []],
    ["of the only one", [deployment("a", "p"), deployment("b")], [{ pin: "p", digest: "d" }]],
    [
      "of the first, however many came later with something else",
      [
        deployment("a", "p", "y", 2),
        deployment("b", "p", "x", 1),
        deployment("c", "p", "y", 3),
        deployment("d", "p", "y", 4),
      ],
      [{ pin: "p", digest: "x" }],
    ],
    [
      "of two at the same time the first by name, whatever the order",
      [deployment("b", "p", "y"), deployment("a", "p", "x")],
      [{ pin: "p", digest: "x" }],
    ],
    [
      "for each pin",
      [deployment("a", "p", "d", 1), deployment("b", "q", "e", 2)],
      [
        { pin: "q", digest: "e" },
        { pin: "p", digest: "d" },
      ],
    ],
  ];
  for (const [name, deployments, expected] of rows)
    test(name, () => assert.deepEqual(boundSources(deployments), expected));

  test("the newest eight pins are sent", () => {
    const many = Array.from({ length: 20 }, (_, at) => deployment(`c${at}`, `p${at}`, "d", at));

    assert.deepEqual(
      boundSources(many).map(({ pin }) => pin),
      ["p19", "p18", "p17", "p16", "p15", "p14", "p13", "p12"],
    );
  });
});
