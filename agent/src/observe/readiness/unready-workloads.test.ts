import assert from "node:assert/strict";
import { deployments, type KubeObject } from "@flotilla/shared/kube/objects";
import { settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { OwnedObject } from "../../helm/record/manifest.ts";
import { pods, startTracker } from "./testing/index.ts";

const web: OwnedObject = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const labels = { app: "web" };

function deploymentWith(available: number): KubeObject {
  const metadata = { namespace: "apps", name: "web", uid: "1", generation: 1 };
  const status = available === 1 ? "True" : "False";
  return {
    metadata,
    ...{
      spec: { replicas: 1, selector: { matchLabels: labels } },
      status: {
        observedGeneration: 1,
        ...{ replicas: 1, updatedReplicas: 1, readyReplicas: available },
        availableReplicas: available,
        conditions: [{ type: "Available", status }],
      },
    },
  };
}

function podThatWaits(reason: string): KubeObject {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-a", uid: "2" };
  const containerStatuses = [{ name: "app", state: { waiting: { reason } } }];
  return {
    metadata: {
      ...{ namespace: "apps", name: "web-a-1", labels },
      ownerReferences: [{ ...owner, controller: true }],
    },
    ...{ status: { phase: "Pending", containerStatuses } },
  };
}

describe("a workload", () => {
  test("that is not ready has the reason of its pods, which changes with them", async (t) => {
    const { rest, clock, tracker, readiness, reported } = startTracker(t);
    rest.put(deployments, deploymentWith(0));
    rest.put(pods, podThatWaits("CrashLoopBackOff"));
    tracker.track("web", [web], "apps");
    const before = await readiness("web", () => true);
    assert.equal(before.notReady[0]?.message, "0 of 1 replica is available");
    assert.equal(before.notReady[0].state, "in-progress");

    await clock.advance(3_000);
    await settle();
    const after = tracker.readinessOf("web");
    assert.equal(
      after?.notReady[0]?.message,
      "0 of 1 replica is available: pod web-a-1: container app is in CrashLoopBackOff",
    );
    assert.equal(after.notReady[0].state, "failed");
    assert.deepEqual(reported, ["web", "web"]);

    rest.put(pods, podThatWaits("CreateContainerError"));
    await clock.advance(5_000);
    await settle();
    assert.match(tracker.readinessOf("web")?.notReady[0]?.message ?? "", /CreateContainerError$/);
  });

  test("that is ready costs no reads of pods and no timers", async (t) => {
    const { rest, clock, tracker, readiness } = startTracker(t);
    rest.put(deployments, deploymentWith(0));
    tracker.track("web", [web], "apps");
    await readiness("web", ({ ready }) => !ready);
    rest.put(deployments, deploymentWith(1));
    await readiness("web", ({ ready }) => ready);
    const before = clock.waiting();

    await clock.advance(120_000);

    assert.deepEqual(
      rest.reads.filter((read) => read.includes("pods")),
      [],
    );
    assert.deepEqual(
      before.filter((delayMs) => delayMs <= 60_000),
      [],
    );
  });

  test("that is no longer tracked costs no reads of pods", async (t) => {
    const { rest, clock, tracker, readiness } = startTracker(t);
    rest.put(deployments, deploymentWith(0));
    tracker.track("web", [web], "apps");
    await readiness("web", ({ ready }) => !ready);

    tracker.forget("web");
    await clock.advance(120_000);

    assert.deepEqual(
      rest.reads.filter((read) => read.includes("pods")),
      [],
    );
  });
});
