/** What the options of a HelmOp do to its release, and releases that somebody else changes. All tests share a fleet. */

import assert from "node:assert/strict";
import { parseAssignment } from "@flotilla/agent/state";
import { bundleDeployments, bundles, clusters } from "@flotilla/shared/api";
import { agentNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { unpackContent } from "@flotilla/shared/content";
import { canonicalJson, rawNumber } from "@flotilla/shared/json";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitUntilGone } from "../harness/wait.ts";
import { startAppFleet } from "./app-fleet.ts";
import { resourceQuotas, waitUntilSecretsAre } from "./secret-quota.ts";

const { fleet, cluster, createHelmOp, change, deleteHelmOp, config, helm } = await startAppFleet();
const { workspace } = fleet;
const { client } = cluster;

/** The epoch of the agent's current connection. */
async function epochOf(): Promise<number | undefined> {
  return (await fleet.hub.reader.get(clusters, workspace.ref(cluster.name)))?.status?.agent?.epoch;
}

test("options of actions reach Helm without running it, those of a target first", async () => {
  await createHelmOp("optioned");
  await workspace.waitUntilReady("optioned", "1.0.0", 1);

  await change("optioned", {
    maxHistory: 1,
    uninstall: { keepHistory: false },
    // It keeps all revisions.
    targets: [{ clusterSelector: {}, maxHistory: 0, uninstall: { keepHistory: true } }],
  });
  for (const version of ["1.1.0", "1.0.0"]) {
    await change("optioned", { helm: { version } });
    await workspace.waitUntilReady("optioned", version, 1);
  }
  const all = ["1 superseded", "2 superseded"];
  assert.deepEqual(await releaseHistory(client, "optioned"), [...all, "3 deployed"]);

  await deleteHelmOp("optioned");
  assert.deepEqual(await releaseHistory(client, "optioned"), [...all, "3 uninstalled"]);
});

test("a HelmOp whose object somebody has changed is Modified, and Ready again once drift is corrected, without a revision", async () => {
  await createHelmOp("drifting");
  await workspace.waitUntilReady("drifting", "1.0.0", 1);
  const ref = { namespace: "drifting", name: "drifting-config" };
  const patch = { type: "merge", body: { data: { greeting: "changed" } } } as const;
  await client.patch(configMaps, ref, patch, { fieldManager: "somebody" });

  const { status } = await workspace.waitForHelmOp(
    "drifting",
    "Modified",
    ({ status }) => status?.display?.state === "Modified",
  );
  assert.equal(status?.summary?.modified, 1);
  assert.match(
    findCondition(status.conditions, "Ready")?.message ?? "",
    /^Modified\(1\) \[Cluster .*: configmap\.v1 drifting\/drifting-config was modified \[.*\/data\/greeting/,
  );
  assert.match(
    findCondition(status.conditions, "Drifted")?.message ?? "",
    /^1 of 1 clusters; .*ConfigMap drifting\/drifting-config: \/data\/greeting was changed by somebody/,
  );
  const modified = await workspace.bundleDeployment(cluster.name, "drifting");
  assert.equal(modified?.status?.nonModified, false);
  assert.deepEqual(
    modified.status.modifiedStatus?.map(({ name, fields, manager }) => [name, fields, manager]),
    [["drifting-config", ["/data/greeting"], "somebody"]],
  );
  assert.ok(JSON.stringify(modified).length < 8_192);

  await change("drifting", { driftDetection: { mode: "enabled" } });
  await workspace.waitUntilReady("drifting", "1.0.0", 1);
  await config("drifting", (greeting) => greeting !== "changed");
  const corrected = await workspace.waitForBundleDeployment(
    cluster.name,
    "drifting",
    "corrected",
    // The report of the correction may still have the conditions of before.
    ({ status }) =>
      status?.driftHistory?.some(({ result }) => result === "Corrected") === true &&
      findCondition(status.conditions, "Ready")?.status === "True",
  );
  assert.equal(corrected.status?.nonModified, true);
  // As small as any other one, apart from what it remembers of drift.
  const { driftHistory, ...others } = corrected.status;
  assert.ok(JSON.stringify(driftHistory).length < 256);
  const { length } = JSON.stringify({ ...corrected, status: others });
  assert.ok(length < 4_096, `${length} characters`);
  assert.deepEqual(await releaseHistory(client, "drifting"), ["1 deployed"]);
});

test("what post-renderers and common metadata change is deployed, those of a target first, and removed again", async () => {
  const renderer = (greeting: string) => ({
    kustomize: {
      patches: [
        {
          patch: JSON.stringify([{ op: "replace", path: "/data/greeting", value: greeting }]),
          target: { kind: "ConfigMap", name: "rendered-.*" },
        },
      ],
    },
  });
  await createHelmOp("rendered", {
    postRenderers: [renderer("of the HelmOp")],
    commonMetadata: { labels: { team: "a", tier: "web" } },
    targets: [
      {
        clusterSelector: {},
        postRenderers: [renderer("of the target")],
        commonMetadata: { labels: { team: "b" } },
      },
    ],
  });
  await workspace.waitUntilReady("rendered", "1.0.0", 1);
  const { data, metadata } = await config("rendered");
  assert.equal(data?.["greeting"], "of the target");
  assert.deepEqual([metadata.labels?.["team"], metadata.labels?.["tier"]], ["b", "web"]);

  await change("rendered", {
    postRenderers: null,
    commonMetadata: null,
    targets: [{ clusterSelector: {} }],
  });
  await config("rendered", (greeting) => greeting === "hello");
  await workspace.waitUntilReady("rendered", "1.0.0", 1);
  assert.equal((await config("rendered")).metadata.labels?.["tier"], undefined);
});

test("an assignment that cannot be stored is ErrApplied with the reason, and the agent stays connected", async () => {
  await createHelmOp("before");
  await workspace.waitUntilReady("before", "1.0.0", 1);
  const epoch = await epochOf();
  const quota = { namespace: agentNamespace, name: "full" };
  await client.create(resourceQuotas, { metadata: quota, ...{ spec: { hard: { secrets: "0" } } } });
  await waitUntilSecretsAre(client, "rejected");

  await createHelmOp("not-stored");
  await workspace.waitForHelmOp("not-stored", "rejected", ({ status }) =>
    /store the assignment in this cluster: create secrets flotilla-agent\/assignment-not-stored .*quota/.test(
      findCondition(status?.conditions, "Ready")?.message ?? "",
    ),
  );
  await change("before", { helm: { values: { greeting: "meanwhile" } } });
  await config("before", (greeting) => greeting === "meanwhile");

  await client.delete(resourceQuotas, quota);
  await waitUntilSecretsAre(client, "accepted");
  await workspace.waitUntilReady("not-stored", "1.0.0", 1);
  assert.equal(await epochOf(), epoch);
});

test("a rollback and an uninstallation by hand are reverted", async () => {
  await createHelmOp("by-hand");
  await workspace.waitUntilReady("by-hand", "1.0.0", 1);
  await change("by-hand", { helm: { values: { greeting: "newer" } } });
  await waitForRevision(client, "by-hand", 2, "deployed");

  await helm("rollback", "by-hand", "1", "--namespace=by-hand");
  await waitForRevision(client, "by-hand", 4, "deployed");
  assert.equal((await config("by-hand")).data?.["greeting"], "newer");

  await helm("uninstall", "by-hand", "--namespace=by-hand");
  await waitForRevision(client, "by-hand", 1, "deployed");
  assert.equal((await config("by-hand")).data?.["greeting"], "newer");
  await workspace.waitUntilReady("by-hand", "1.0.0", 1);
});

test("a second HelmOp for the same release is rejected, and the message names the first", async () => {
  await createHelmOp("owner");
  await workspace.waitUntilReady("owner", "1.0.0", 1);

  await createHelmOp("latecomer", {
    namespace: "owner",
    helm: { releaseName: "owner", version: "1.1.0" },
  });
  await workspace.waitForHelmOp("latecomer", "rejected", ({ status }) =>
    /release owner\/owner belongs to deployment owner;/.test(
      findCondition(status?.conditions, "Ready")?.message ?? "",
    ),
  );
  assert.deepEqual(await releaseHistory(client, "owner"), ["1 deployed"]);

  await deleteHelmOp("latecomer");
  assert.deepEqual(
    await releaseHistory(client, "owner"),
    ["1 deployed"],
    "the first keeps its release",
  );
});

test("large numbers in values reach the agent with all digits", async () => {
  await createHelmOp("numbers", { helm: { values: { big: rawNumber("9007199254740993") } } });
  await workspace.waitUntilReady("numbers", "1.0.0", 1);

  const secret = await client.reader.get(secrets, {
    namespace: agentNamespace,
    name: "assignment-numbers",
  });
  const stored = secret === undefined ? undefined : parseAssignment(secret);
  assert.ok(stored !== undefined);
  const { values } = await unpackContent({
    deploymentId: stored.deploymentId,
    bytes: stored.content,
  });
  // This is the input of Helm, which itself parses it as a floating-point number.
  assert.equal(canonicalJson(values), '{"big":9007199254740993}');
});

test("with keepResources the installed objects outlive their HelmOp, and the records of Helm do not", async () => {
  await createHelmOp("kept", { keepResources: true });
  await workspace.waitUntilReady("kept", "1.0.0", 1);

  await deleteHelmOp("kept");

  assert.equal((await config("kept")).data?.["version"], "1.0.0");
  assert.deepEqual(await releaseHistory(client, "kept"), []);
});

test("a BundleDeployment that somebody creates again after its HelmOp was deleted installs nothing", async () => {
  await createHelmOp("revived");
  await workspace.waitUntilReady("revived", "1.0.0", 1);
  const signed = await workspace.bundleDeployment(cluster.name, "revived");
  assert.ok(signed !== undefined);
  await deleteHelmOp("revived");
  await waitUntilGone(fleet.hub, bundles, workspace.ref("revived"));

  const { uid: _, resourceVersion: __, ...metadata } = signed.metadata;
  await fleet.hub.create(bundleDeployments, { ...signed, metadata });
  // Its agent gets what is created later after it.
  await createHelmOp("later");
  await workspace.waitUntilReady("later", "1.0.0", 1);

  assert.deepEqual(await releaseHistory(client, "revived"), []);
  const revived = await workspace.bundleDeployment(cluster.name, "revived");
  assert.deepEqual(revived?.status, undefined);
});
