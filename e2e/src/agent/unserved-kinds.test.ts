/** Releases that are uninstalled after the kind of one of their objects has gone, with the real Helm on a real control plane. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DeploymentState } from "@flotilla/proto";
import {
  configMaps,
  customResourceDefinitions,
  type KubeObject,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { afterAll, test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { hangMs } from "../harness/hang.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { configMapText, definitionText } from "../harness/object-text.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitUntilGone } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { hasCode, isDeployed } from "./agent-reports.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";

const { client, charts, spec } = await startAgentCluster();
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

const apiServices: Resource<KubeObject> = {
  ...{ group: "apiregistration.k8s.io", version: "v1", kind: "APIService" },
  ...{ plural: "apiservices", namespaced: false },
};

/** A group with the kind Car, which the API server serves when this resolves. */
async function defineCars(group: string, versions: readonly string[] = ["v1"]): Promise<void> {
  const definition = parseHelmYaml(definitionText({ group, kind: "Car" }), { name: "it" });
  const crd = definition as KubeObject & {
    readonly spec: { readonly versions: readonly object[] };
  };
  const [first] = crd.spec.versions;
  await client.create(customResourceDefinitions, {
    ...crd,
    spec: {
      ...crd.spec,
      versions: versions.map((name, index) => ({ ...first, name, storage: index === 0 })),
    },
  } as never);
  for (const version of versions) await waitUntilServed(`/apis/${group}/${version}`, true);
}

async function waitUntilServed(path: string, isServed: boolean): Promise<void> {
  const deadline = AbortSignal.timeout(hangMs);
  for (;;) {
    const found = await client.raw(path, { signal: deadline }).then(
      () => true,
      () => false,
    );
    if (found === isServed) return;
  }
}

async function deleteCars(group: string): Promise<void> {
  const ref = { name: `cars.${group}` };
  await client.delete(customResourceDefinitions, ref);
  await waitUntilGone(client, customResourceDefinitions, ref);
  await waitUntilServed(`/apis/${group}`, false);
  // Where Helm still knows the kind, it goes on by itself.
  await rm(join(spec.dataDir, "helm", ".kube"), { recursive: true, force: true });
}

async function carsChart(group: string, more: Readonly<Record<string, string>> = {}) {
  const chart = await chartArchive({
    name: "cars",
    version: `1.0.${group.length}${Object.keys(more).length}`,
    templates: {
      "car.yaml": `apiVersion: ${group}/v1\nkind: Car\nmetadata: {name: fast}\n`,
      "config.yaml": configMapText("config"),
      ...more,
    },
  });
  charts.publish(chart);
  return chart;
}

async function assign(
  name: string,
  chart: ChartArchive,
  more: Partial<DeploymentSpec> = {},
): Promise<void> {
  await agent.intake.assign(await assignmentOf({ name, chart, url: charts.url, ...more }));
}

async function deployed(name: string, chart: ChartArchive): Promise<DeploymentState> {
  return await agent.report(isDeployed(name, chart.version));
}

async function assertUninstalled(name: string): Promise<void> {
  await agent.withdrawn(name);
  assert.deepEqual(await releaseHistory(client, name), []);
  const config = await client.reader.get(configMaps, { namespace: name, name: "config" });
  assert.equal(config, undefined);
}

const withdraw = (name: string) => agent.intake.withdraw({ name, uid: `uid-${name}` });

test("a release is uninstalled after the definition of one of its objects and hooks was deleted, and its other hooks run", async () => {
  await defineCars("gone.example.com");
  const hook = (event: string) => `annotations: {helm.sh/hook: ${event}}`;
  const chart = await carsChart("gone.example.com", {
    "before.yaml": `apiVersion: gone.example.com/v1\nkind: Car\nmetadata: {name: before, ${hook("pre-delete")}}\n`,
    "after.yaml": `apiVersion: gone.example.com/v1\nkind: Car\nmetadata: {name: after, ${hook("post-delete")}}\n`,
    "other.yaml": configMapText("other", { hook: "pre-delete" }),
  });
  await assign("gone", chart);
  await deployed("gone", chart);
  await deleteCars("gone.example.com");

  await withdraw("gone");

  await assertUninstalled("gone");
  assert.ok(await client.reader.get(configMaps, { namespace: "gone", name: "other" }));
});

test("an object whose version is not served any more is deleted in another one", async () => {
  await defineCars("moved.example.com", ["v2", "v1"]);
  const chart = await carsChart("moved.example.com");
  await assign("moved", chart);
  await deployed("moved", chart);
  const crd = await client.get(customResourceDefinitions, { name: "cars.moved.example.com" });
  assert.ok(crd !== undefined);
  const versions = crd.spec.versions.filter(({ name }) => name === "v2");
  await client.replace(customResourceDefinitions, { ...crd, spec: { ...crd.spec, versions } });
  await waitUntilServed("/apis/moved.example.com/v1", false);
  await rm(join(spec.dataDir, "helm", ".kube"), { recursive: true, force: true });

  await withdraw("moved");

  await assertUninstalled("moved");
  const cars = {
    group: "moved.example.com",
    version: "v2",
    kind: "Car",
    plural: "cars",
    namespaced: true,
  };
  assert.deepEqual(await client.reader.list(cars, { namespace: "moved" }), []);
});

test("a kind whose APIService has no server is not gone: the release waits and says so, until it is deleted", async () => {
  await defineCars("down.example.com");
  const chart = await carsChart("down.example.com");
  await assign("down", chart);
  await deployed("down", chart);
  await deleteCars("down.example.com");
  await client.create(apiServices, {
    metadata: { name: "v1.down.example.com" },
    spec: {
      ...{
        group: "down.example.com",
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 1,
      },
      ...{ service: { namespace: "default", name: "absent" }, insecureSkipTLSVerify: true },
    },
  } as never);
  await waitUntilServed("/apis/down.example.com", true);

  await withdraw("down");
  const waiting = await agent.report(
    ({ name, phase, message }) => name === "down" && phase === "withdrawing" && message !== "",
  );

  assert.match(
    waiting.message,
    /^release down\/down is not uninstalled, because the API server cannot serve kind Car of down\.example\.com\/v1 now \(Car fast\): get \/apis\/down\.example\.com\/v1 on .*: 503: .*; nothing was changed; retrying at /,
  );
  assert.deepEqual(await releaseHistory(client, "down"), ["1 deployed"]);
  await client.delete(apiServices, { name: "v1.down.example.com" });
  await assertUninstalled("down");
});

test("a failed installation is uninstalled, and its sentence says what was skipped", async () => {
  await defineCars("failed.example.com");
  const chart = await carsChart("failed.example.com", {
    "waits.yaml": `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: never}\nspec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}\n`,
  });
  const install = { remediation: { retries: 0, remediateLastFailure: true } };
  await assign("failed", chart, { helm: { timeoutSeconds: 8 }, actions: { install } });
  await waitForRevision(client, "failed", 1, "deployed");

  await deleteCars("failed.example.com");

  const { message } = await agent.report(hasCode("failed", "RETRIES_EXCEEDED"));
  assert.match(
    message,
    /; it was uninstalled; skipped, because the cluster does not have their kinds any more: Car fast/,
  );
  assert.deepEqual(await releaseHistory(client, "failed"), []);
});
