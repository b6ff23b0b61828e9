import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRollout, BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import { aBundle } from "../../testing/index.ts";
import { dependencyProblem } from "./dependency-rollouts.ts";

const uid = aBundle().metadata.uid ?? "";

function rolloutOf(
  name: string,
  number: number,
  status: Partial<BundleRolloutStatus>,
): BundleRollout {
  return {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "BundleRollout",
    metadata: { name: `${name}-${number}`, namespace: "fleet-default" },
    spec: {
      bundle: { name, uid },
      app: { kind: "HelmOp", name },
      number,
      revision: `sha256:${"a".repeat(64)}`,
      targets: [],
      signature: "",
    },
    status: { phase: "Waiting", startedAt: "2026-12-01T00:00:00Z", ...status },
  };
}

const waitingForWeb: Partial<BundleRolloutStatus> = {
  stages: [
    {
      name: "all",
      phase: "Gated",
      total: 1,
      done: 0,
      inFlight: 0,
      failed: 0,
      pending: 1,
      offline: 0,
      paused: 0,
      skipped: 0,
      offSchedule: 0,
      brokenBefore: 0,
      gates: [
        {
          name: "web-first",
          when: "Before",
          type: "Rollout",
          result: "Waiting",
          gate: "database-3-all-web-first",
          digest: `sha256:${"b".repeat(64)}`,
          startedAt: "2026-12-01T00:00:00Z",
        },
      ],
    },
  ],
};

const gated: RolloutStrategy = {
  stages: [
    { name: "all", before: [{ name: "web-first", rollout: { kind: "HelmOp", name: "web" } }] },
  ],
};

/** What `web` is said of `database`, whose rollouts are these. */
function problem(
  rollouts: readonly BundleRollout[],
  {
    dependsOn = [],
    strategy,
  }: { readonly dependsOn?: readonly string[]; readonly strategy?: RolloutStrategy } = {},
): string | undefined {
  const bundle = aBundle({ dependsOn: dependsOn.map((name) => ({ name })) });
  return dependencyProblem(
    {
      rollouts,
      bundleNamed: (name) => (name === "database" ? bundle : undefined),
      strategyOf: () => strategy,
    },
    rolloutOf("web", 1, {}),
    "database",
  );
}

describe("a dependency", () => {
  test("without a rollout, or whose rollout goes on, is no problem", () => {
    assert.equal(problem([]), undefined);
    assert.equal(problem([rolloutOf("database", 3, { phase: "Progressing" })]), undefined);
  });

  test("whose newest rollout is halted is named with it", () => {
    const older = rolloutOf("database", 2, { phase: "Superseded" });

    assert.equal(
      problem([rolloutOf("database", 3, { phase: "Halted" }), older]),
      "the rollout database-3 of the HelmOp database is halted",
    );
    assert.equal(
      problem([rolloutOf("database", 1, { phase: "Halted" }), older]),
      undefined,
      "an earlier one that is halted holds up nobody",
    );
  });

  test("that waits for this app in its turn is named as a cycle", () => {
    const waiting = rolloutOf("database", 3, { reason: "DependencyNotReady" });

    assert.match(
      problem([waiting], { dependsOn: ["web"] }) ?? "",
      /^the HelmOp database depends on this app, too, so neither rollout goes on/,
    );
    assert.equal(problem([waiting], { dependsOn: ["cache"] }), undefined);
  });

  test("with a gate that waits for this rollout is named as a cycle", () => {
    assert.match(
      problem([rolloutOf("database", 3, waitingForWeb)], { strategy: gated }) ?? "",
      /waits for this one by its gate web-first, so neither goes on/,
    );
    assert.equal(problem([rolloutOf("database", 3, waitingForWeb)]), undefined);
  });

  test("of an earlier Bundle of that name counts for nothing", () => {
    const { spec, ...others } = rolloutOf("database", 3, { phase: "Halted" });
    const earlier = { ...others, spec: { ...spec, bundle: { name: "database", uid: "gone" } } };

    assert.equal(problem([earlier]), undefined);
  });
});
