import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeploymentState } from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { bundleDeployments } from "@flotilla/shared/api/resources.ts";
import { createFakeClock, settle } from "@flotilla/shared/clock/testing/fake-clock.ts";
import { keyOf } from "@flotilla/shared/kube/object.ts";
import { createStore } from "@flotilla/shared/kube/store.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createMemoryKube } from "../testing/memory-kube.ts";
import { aDeployment } from "../testing/objects.ts";
import { deployed } from "../testing/reports.ts";
import { createReportWriter } from "./report-writer.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";

/** The deployment `web` of `paris` in the API server and in the cache, and what has been acknowledged. */
function start(deployment: BundleDeployment = aDeployment("paris")) {
  const kube = createMemoryKube();
  const clock = createFakeClock();
  const deployments = createStore<BundleDeployment>();
  deployments.set(kube.put(bundleDeployments, deployment));
  const writer = createReportWriter({ rest: kube, deployments, clock, log: silentLog() });
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
  return { kube, clock, writer, paris, report, acknowledged, stored };
}

const failed = { phase: "failed", ready: false, message: "no chart" } as const;

describe("a report", () => {
  it("is acknowledged once it is stored, not before", async () => {
    const { kube, report, acknowledged, stored } = start();
    const letThrough = kube.hold();

    report(1, 1);
    await settle();
    assert.deepEqual(acknowledged, []);

    letThrough();
    await settle();
    assert.deepEqual(acknowledged, [1]);
    assert.deepEqual(stored()?.agent, { epoch: 1, sequence: 1 });
  });

  it("that another one overtakes is stored with it, and all are acknowledged", async () => {
    const { kube, report, acknowledged, stored } = start();
    const letThrough = kube.hold();

    report(1, 1);
    report(1, 2, { ready: false });
    report(1, 3, failed);
    letThrough();
    await settle();

    assert.deepEqual(acknowledged, [1, 2, 3]);
    assert.equal(stored()?.agent?.sequence, 3);
  });

  it("that is older than what is stored changes nothing and is acknowledged", async () => {
    const { report, acknowledged, stored } = start();
    report(2, 1);
    await settle();
    const before = stored();

    report(1, 9, failed);
    await settle();

    assert.deepEqual(acknowledged, [1, 9]);
    assert.deepEqual(stored(), before);
  });

  it("of a later stream counts from one again", async () => {
    const { report, stored } = start();
    report(1, 7);
    await settle();

    report(2, 1, failed);
    await settle();

    assert.deepEqual(stored()?.agent, { epoch: 2, sequence: 1 });
  });

  it("that says what is known already is not written again", async () => {
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
      "lets the deployment go",
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
      "of a deployment that is wanted changes nothing",
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
