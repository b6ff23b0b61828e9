import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { BundleDeployment } from "./bundle-deployment.ts";
import type { Cluster } from "./cluster.ts";
import { clusterLabel, clusterNamespaceLabel } from "./names/index.ts";
import {
  answerLines,
  deploymentSelector,
  type RequestAnswer,
  requestAnswers,
} from "./request-answers.ts";

const request = { token: "now", version: "1.4.0" };

function aDeployment(more: Partial<BundleDeployment> = {}): BundleDeployment {
  const labels = { [clusterNamespaceLabel]: "fleet-default", [clusterLabel]: "east" };
  return {
    metadata: { name: "web", namespace: "cluster-fleet-default-east", labels },
    spec: { deploymentID: "s-1:2", requestedAt: "now" },
    ...more,
  } as BundleDeployment;
}

function aCluster(agent: NonNullable<Cluster["status"]>["agent"], name = "east"): Cluster {
  return { metadata: { namespace: "fleet-default", name }, spec: {}, status: { agent } };
}

const connected = aCluster({ connected: true, version: "1.4.0" });
const offSchedule: Cluster = {
  ...connected,
  status: { ...connected.status, scheduled: true, activeSchedule: false },
};
const spec = { deploymentID: "s-1:2", stagedDeploymentID: "s-1:2", requestedAt: "now" };
const promotion = { rollout: "web-2", at: "2026-01-01T00:00:00.000Z", from: "", wasReady: false };

describe("the answer of a cluster to a request", () => {
  const answered = (token: string) =>
    aDeployment({ status: { lastRequest: { token, result: "DriftCorrected", objects: 2 } } });
  const rows: readonly (readonly [string, BundleDeployment, Cluster, RegExp, boolean])[] = [
    [
      "is what its agent has reported",
      answered("now"),
      connected,
      /^the drift of 2 objects was corrected$/,
      false,
    ],
    [
      "to an earlier request does not count",
      answered("before"),
      connected,
      /has not answered yet/,
      true,
    ],
    [
      "of an agent that is offline is not waited for",
      aDeployment(),
      aCluster({ connected: false, version: "1.4.0" }),
      /offline/,
      false,
    ],
    [
      "of an agent of an older version is not waited for",
      aDeployment(),
      aCluster({ connected: true, version: "1.3.9" }),
      /version 1\.3\.9, which may not know this request/,
      false,
    ],
    [
      "of a newer agent is waited for",
      aDeployment(),
      aCluster({ connected: true, version: "1.5.0" }),
      /has not answered yet/,
      true,
    ],
    [
      "of an agent that says that it gives answers is waited for, whatever its version",
      aDeployment(),
      aCluster({ connected: true, version: "1.3.9", capabilities: ["RequestResults"] }),
      /has not answered yet/,
      true,
    ],
    [
      "of an agent that says that it does other things is not waited for, whatever its version",
      aDeployment(),
      aCluster({ connected: true, version: "1.4.0", capabilities: ["Other"] }),
      /may not know this request/,
      false,
    ],
    [
      "of an agent that does not say that it corrects drift is not waited for, if that is requested",
      aDeployment({
        spec: { deploymentID: "s-1:2", requestedAt: "now", correctDriftAt: "now" },
      } as Partial<BundleDeployment>),
      aCluster({ connected: true, version: "1.4.0", capabilities: ["RequestResults"] }),
      /may not know this request/,
      false,
    ],
    [
      "of an agent without a version is waited for",
      aDeployment(),
      aCluster({ connected: true, version: "development" }),
      /has not answered yet/,
      true,
    ],
    [
      "of a suspended deployment is not waited for",
      aDeployment({ spec: { deploymentID: "s-1:2", suspend: true } } as Partial<BundleDeployment>),
      connected,
      /stays open/,
      false,
    ],
    [
      "of a cluster whose windows are closed is not waited for, and says why",
      aDeployment({ spec: { ...spec, requestedAt: "before" } }),
      offSchedule,
      /windows of its Schedules are closed/,
      false,
    ],
    [
      "to a request that was sent in a window is waited for after it has closed",
      aDeployment(),
      offSchedule,
      /has not answered yet/,
      true,
    ],
    [
      "of a deployment that nothing is tried for until a window opens is not waited for",
      aDeployment({ spec: { ...spec, offSchedule: true } }),
      connected,
      /windows of its Schedules are closed/,
      false,
    ],
    [
      "of a cluster whose turn has not come is waited for",
      aDeployment({ spec: { ...spec, requestedAt: "before", promotion } }),
      connected,
      /waits for its turn in the rollout/,
      true,
    ],
    [
      "of a release that is being removed is not waited for",
      aDeployment({
        metadata: { ...aDeployment().metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
      }),
      connected,
      /being removed/,
      false,
    ],
  ];
  test.each(rows)("%s", (_, deployment, cluster, text, isOpen) => {
    const [answer] = requestAnswers([deployment], [cluster], request);
    assert.equal(answer?.cluster, "fleet-default/east");
    assert.match(answer.text, text);
    assert.equal(answer.isOpen, isOpen);
  });
});

describe("the lines of all clusters", () => {
  const answer = (cluster: string, text: string): RequestAnswer => ({
    cluster,
    text,
    isOpen: false,
  });

  test("name five clusters with the same answer, and count the others", () => {
    const all = ["a", "b", "c", "d", "e", "f", "g"].map((name) => answer(name, "in sync"));
    assert.deepEqual(answerLines([answer("z", "failed"), ...all]), [
      "Clusters a, b, c, d, e and 2 more: in sync",
      "Cluster z: failed",
    ]);
  });

  test("are five at most, whatever the clusters answer", () => {
    const all = ["a", "b", "c", "d", "e", "f", "g"].map((name) => answer(name, `revision ${name}`));
    const lines = answerLines(all);
    assert.equal(lines.length, 6);
    assert.match(lines[5] ?? "", /^2 other Clusters answered otherwise/);
  });
});

test("the deployments of a HelmRelease are those of the Bundle that is made for it", () => {
  const ref = { namespace: "apps", name: "web" };
  assert.equal(
    deploymentSelector("HelmOp", ref),
    "fleet.cattle.io/bundle-namespace=apps,fleet.cattle.io/bundle-name=web",
  );
  assert.match(deploymentSelector("HelmRelease", ref), /bundle-name=helmrelease-web/);
});
