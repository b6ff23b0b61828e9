/**
 * In-memory state of the controllers of Flux's kinds may be dropped at any time without changing a decision, as in
 * `drop-state.test.ts`: HelmReleases, the sources of their charts of each kind, which change, and a Receiver.
 */
import assert from "node:assert/strict";
import { bundleDeployments, bundles, clusters } from "@flotilla/shared/api";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmReleases,
  helmRepositories,
  ociRepositories,
  receivers,
} from "@flotilla/shared/flux";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { test } from "vitest";
import { createTestLeader } from "../../testing/index.ts";
import {
  applyFluxStep,
  bucketChart,
  clusterNames,
  type FluxStep,
  fluxStep,
  gitChart,
  type RepositoryState,
  registryChart,
  resolverOf,
  runHistory,
  sourcesOf,
} from "./testing/index.ts";

const kinds: readonly Resource<KubeObject>[] = [
  helmReleases,
  helmRepositories,
  buckets,
  gitRepositories,
  ociRepositories,
  helmCharts,
  receivers,
  bundles,
  bundleDeployments,
  clusters,
];

function run(steps: readonly FluxStep[], drops: readonly boolean[]) {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository), sourcesOf(repository));
  const apply = (step: FluxStep) => applyFluxStep(leader, repository, step);
  return runHistory({ leader, repository, steps, drops, apply, kinds });
}

const beginning: readonly FluxStep[] = [
  ...clusterNames.map((name) => ({ kind: "cluster", name, presence: "join" }) as const),
  { kind: "source", spec: { interval: "1m" } },
  { kind: "release", name: "web", spec: {} },
];

test("leaders that lose their memory between any two steps decide about Flux's kinds what one leader does", async () => {
  const histories = fc.array(fc.tuple(fluxStep, fc.boolean()), { minLength: 6, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const steps = [...beginning, ...history.map(([step]) => step)];
      const drops = [...beginning.map(() => true), ...history.map(([, drop]) => drop)];

      const one = await run(steps, []);
      const many = await run(steps, drops);

      assert.deepEqual(many, one);
    }),
    { numRuns: 15, endOnFailure: false },
  );
});

test("the histories have effects: an index that changes upgrades a HelmRelease, and a Receiver is ready", async () => {
  const decisions = await run(
    [
      ...beginning,
      { kind: "receiver", token: "a", suspend: false },
      { kind: "agents", report: "ready" },
      { kind: "publish", version: "1.2.4" },
      { kind: "wait", ms: 61_000 },
    ],
    [],
  );

  const texts = decisions.map((decision) => JSON.stringify(decision));
  const ready = texts.at(-3) ?? "";
  assert.match(ready, /"message":"stored artifact: revision 'sha256:/);
  assert.match(ready, /"ready":2/);
  assert.match(ready, /web-1\.2\.3\.tgz/);
  assert.match(ready, /"webhookPath":"\/hook\//);
  assert.match(texts.at(-1) ?? "", /web-1\.2\.4\.tgz/);
});

test.each([
  ["a Bucket", "bucket", { chart: bucketChart }],
  ["a GitRepository", "git", { chart: gitChart }],
  ["an OCIRepository", "registry", { chartRef: registryChart }],
] as const)(
  "the histories have effects: a chart of %s that changes upgrades a HelmRelease",
  async (_, kind, spec) => {
    const decisions = await run(
      [
        ...beginning,
        { kind, version: "1.0.0", interval: "10m" },
        { kind: "release", name: "db", spec },
        { kind, version: "1.1.0", interval: "10m" },
      ],
      [],
    );

    const [before = "", after = ""] = decisions.slice(-2).map((each) => JSON.stringify(each));
    assert.match(before, /"lastAttemptedRevision":"1\.0\.0["+]/);
    assert.match(after, /"lastAttemptedRevision":"1\.1\.0["+]/);
  },
);
