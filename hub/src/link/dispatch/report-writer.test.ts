import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  clusters as clusterResource,
} from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, it } from "vitest";
import { aCluster, aDeployment, deployed } from "../../testing/index.ts";
import { createReportWriter } from "./report-writer.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";

/** The deployment `web` of `paris` in the API server and in the cache, and what has been acknowledged. */
function start(deployment: BundleDeployment = aDeployment("paris")) {
  const kube = createMemoryApiServer();
  const clock = createFakeClock();
  const deployments = createStore<BundleDeployment>();
  deployments.set(kube.put(bundleDeployments, deployment));
  const clusters = createStore<Cluster>();
  const running = new AbortController();
  const deps = { rest: kube, deployments, clusters, clock, log: silentLog() };
  const writer = createReportWriter(deps);
  void writer.run(running.signal);
  const { namespace = "", name } = deployment.metadata;
  const paris = {
    namespace: "fleet-default",
    name: "paris",
    uid: "uid-paris",
    deploymentsNamespace: namespace,
  };
  const acknowledged: number[] = [];
  const report = (epoch: number, sequence: number, changes: Partial<DeploymentState> = {}) =>
    void writer
      .report(paris, { epoch, sequence }, deployed(changes))
      .then(() => acknowledged.push(sequence));
  const stored = () => kube.peek(bundleDeployments, { namespace, name })?.status;
  /** The agent connects again: written by the replica that it connects to. */
  const connects = (epoch: number) =>
    kube.put(clusterResource, aCluster("paris", { status: { agent: { connected: true, epoch } } }));
  return {
    kube,
    clock,
    writer,
    paris,
    report,
    acknowledged,
    stored,
    connects,
    /** The watch of Clusters has delivered this. */
    saw: (cluster: Cluster) => void clusters.set(cluster),
    end: () => running.abort(),
  };
}

/** Still ready, which is not urgent: it is written within a second and not at once. */
const later = {
  counts: { desiredReady: 2, ready: 2, notReady: 0, missing: 0, unknown: 0 },
} as const;

const failed = { phase: "failed", ready: false, message: "no chart" } as const;

describe("a report", () => {
  it("is acknowledged after it is stored, not before", async () => {
    const { kube, report, acknowledged, stored } = start();
    const unblock = kube.hold();

    report(1, 1);
    await settle();
    assert.deepEqual(acknowledged, []);

    unblock();
    await settle();
    assert.deepEqual(acknowledged, [1]);
    assert.deepEqual(stored()?.agent, { epoch: 1, sequence: 1 });
  });

  it("that a newer one replaces is acknowledged together with it", async () => {
    const { kube, report, acknowledged, stored } = start();
    const unblock = kube.hold();

    report(1, 1);
    report(1, 2, { ready: false });
    report(1, 3, failed);
    unblock();
    await settle();

    assert.deepEqual(acknowledged, [1, 2, 3]);
    assert.equal(stored()?.agent?.sequence, 3);
  });

  it("that is older than the stored one changes nothing and is acknowledged", async () => {
    const { report, acknowledged, stored } = start();
    report(2, 1);
    await settle();
    const before = stored();

    report(1, 9, failed);
    await settle();

    assert.deepEqual(acknowledged, [1, 9]);
    assert.deepEqual(stored(), before);
  });

  it("of a later stream starts with sequence 1 again", async () => {
    const { report, stored } = start();
    report(1, 7);
    await settle();

    report(2, 1, failed);
    await settle();

    assert.deepEqual(stored()?.agent, { epoch: 2, sequence: 1 });
  });

  it("without a change is not written again", async () => {
    const { kube, report, acknowledged } = start();
    report(1, 1);
    await settle();

    report(1, 2);
    await settle();

    assert.deepEqual(acknowledged, [1, 2]);
    assert.equal(kube.writes.length, 1);
  });

  it("about an earlier deployment of the name is acknowledged and dropped", async () => {
    const { kube, report, acknowledged } = start();

    report(1, 1, { uid: "uid-of-an-earlier-one" });
    await settle();

    assert.deepEqual(acknowledged, [1]);
    assert.deepEqual(kube.writes, []);
  });
});

describe("a withdrawal that an agent confirms", () => {
  const cases: readonly (readonly [
    what: string,
    deployment: BundleDeployment,
    uid: string,
    isGone: boolean,
  ])[] = [
    [
      "removes the finalizer",
      aDeployment("paris", { metadata: { deletionTimestamp } }),
      "uid-web-paris",
      true,
    ],
    [
      "of an earlier deployment of the name changes nothing",
      aDeployment("paris", { metadata: { deletionTimestamp } }),
      "uid-of-an-earlier-one",
      false,
    ],
    [
      "of a deployment that is not being deleted changes nothing",
      aDeployment("paris"),
      "uid-web-paris",
      false,
    ],
  ];
  for (const [what, deployment, uid, isGone] of cases) {
    it(what, async () => {
      const { kube, writer, paris } = start(deployment);

      await writer.withdrawn(paris, { name: "web", uid });

      const left = kube.peek(bundleDeployments, {
        namespace: paris.deploymentsNamespace,
        name: "web",
      });
      assert.equal(left === undefined, isGone, keyOf(deployment));
    });
  }
});

describe("a delayed report", () => {
  it("is not stored once the agent is known to have connected elsewhere", async () => {
    const { connects, saw, report, stored, acknowledged, end } = start();
    saw(connects(1));
    report(1, 1);
    await settle();
    saw(connects(2));

    report(1, 2, later);
    await settle();

    assert.deepEqual(stored()?.agent, { epoch: 1, sequence: 1 });
    assert.deepEqual(acknowledged, [1, 2]);
    end();
  });

  it("is not stored by a process that was frozen while the agent connected elsewhere", async () => {
    const { clock, connects, saw, report, stored, end } = start();
    saw(connects(1));
    report(1, 1);
    // Not urgent: it waits for a second, in which the process is frozen, and is the first to be due when it resumes.
    await clock.advance(900);
    report(1, 2, later);
    await clock.advance(200);
    connects(2);
    clock.freeze(30_000);

    await clock.advance(2_000);

    assert.equal(stored()?.resourceCounts?.ready, 1);
    end();
  });

  it("is stored by a process that was frozen and is still connected to the agent", async () => {
    const { clock, kube, connects, saw, report, stored, acknowledged, end } = start();
    saw(connects(1));
    report(1, 1);
    await clock.advance(900);
    report(1, 2, later);
    await clock.advance(200);
    clock.freeze(30_000);

    await clock.advance(2_000);

    assert.equal(stored()?.resourceCounts?.ready, 2);
    assert.deepEqual(acknowledged, [1, 2]);
    assert.equal(kube.writes.filter((write) => write.startsWith("replace")).length, 2);
    end();
  });

  it("is stored when the Cluster was deleted and created again after the freeze", async () => {
    const { clock, connects, saw, report, stored, end } = start();
    saw(connects(40));
    clock.freeze(30_000);
    await clock.advance(2_000);
    const metadata = { uid: "uid-recreated", resourceVersion: "1000" };
    saw(aCluster("paris", { metadata, status: { agent: { connected: true, epoch: 1 } } }));

    report(1, 1);
    await clock.advance(2_000);

    assert.deepEqual(stored()?.agent, { epoch: 1, sequence: 1 });
    end();
  });

  it("is stored when the hub was restored from a backup after the freeze", async () => {
    const { clock, connects, saw, report, stored, end } = start();
    saw(connects(39));
    const newer = connects(40);
    clock.freeze(30_000);
    await clock.advance(2_000);
    saw(newer);
    await clock.advance(2_000);
    saw(connects(2));

    report(2, 1);
    await clock.advance(2_000);

    assert.deepEqual(stored()?.agent, { epoch: 2, sequence: 1 });
    end();
  });

  it("is not stored after an outage of the API server in which the agent reported elsewhere", async () => {
    const { clock, kube, connects, saw, report, stored, acknowledged, end } = start();
    saw(connects(1));
    report(1, 1);
    await settle();
    const { list, replace } = kube;
    let isUnavailable = true;
    Object.assign(kube, {
      list: (...args: Parameters<typeof list>) =>
        isUnavailable ? Promise.reject(new Error("unavailable")) : list(...args),
      replace: (...args: Parameters<typeof replace>) =>
        isUnavailable ? Promise.reject(new Error("unavailable")) : replace(...args),
    });
    report(1, 2, failed);
    await clock.advance(2_000);
    assert.deepEqual(acknowledged, [1]);

    // The watch of this replica is not restarted yet when its next write succeeds.
    connects(2);
    isUnavailable = false;
    await clock.advance(40_000);

    assert.equal(stored()?.agent?.sequence, 1);
    assert.deepEqual(acknowledged, [1, 2]);
    end();
  });

  it("waits while the Clusters cannot be listed", async () => {
    const { clock, kube, connects, saw, report, stored, acknowledged, end } = start();
    saw(connects(1));
    const list = kube.list;
    let isUnavailable = true;
    Object.assign(kube, {
      list: (...args: Parameters<typeof list>) =>
        isUnavailable ? Promise.reject(new Error("unavailable")) : list(...args),
    });
    clock.freeze(30_000);
    report(1, 1, later);
    await clock.advance(5_000);
    assert.equal(stored(), undefined);
    assert.deepEqual(acknowledged, []);

    isUnavailable = false;
    await clock.advance(5_000);
    assert.equal(stored()?.resourceCounts?.ready, 2);
    assert.deepEqual(acknowledged, [1]);
    end();
  });
});
