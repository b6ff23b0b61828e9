/** The three charts on a real API server whose admission enforces the restricted Pod Security Standard. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { isForbidden } from "@flotilla/shared/kube/client";
import {
  customResourceDefinitions,
  type KubeObject,
  namespaces,
  type Resource,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chartDir, charts } from "../harness/chart-rights.ts";
import { connectCluster } from "../harness/cluster-client.ts";
import { leaseControlPlane } from "../harness/control-planes.ts";

const run = promisify(execFile);

const { helm } = await ensureBinaries(["helm"]);
const plane = await leaseControlPlane("cluster");
const cluster = await connectCluster(plane.kubeconfig);
afterAll(() => cluster.close());

const crdCharts = ["flotilla-crds", "flotilla-flux-crds"] as const;
const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };

async function runHelm(...args: readonly string[]): Promise<string> {
  return (await run(helm, [...args, `--kubeconfig=${plane.kubeconfig}`])).stdout;
}

beforeAll(async () => {
  for (const { namespace } of Object.values(charts))
    await cluster.create(namespaces, { metadata: { name: namespace, labels: restricted } });
});

test("are installed, and their pods are admitted and become ready", async () => {
  for (const chart of crdCharts)
    await runHelm("install", chart, chartDir(chart), `--namespace=${charts.hub.namespace}`);
  for (const { chart, namespace } of Object.values(charts)) {
    const printed = await runHelm(
      ...["install", chart, chartDir(chart), `--namespace=${namespace}`],
      ...["--wait", "--timeout=60s"],
    );

    assert.match(printed, /STATUS: deployed/);
    assert.match(printed, /kubectl --namespace flotilla-\w+ (rollout status|logs)/);
  }
});

test("are upgraded with other values, and what a value turns off is deleted", async () => {
  const { chart, namespace } = charts.hub;
  const command = ["upgrade", chart, chartDir(chart), `--namespace=${namespace}`];

  await runHelm(...command, "--set=networkPolicy.enabled=false,replicas=1", "--wait");

  const manifest = await runHelm("get", "manifest", chart, `--namespace=${namespace}`);
  expect(manifest).not.toContain("NetworkPolicy");
  expect(manifest).not.toContain("PodDisruptionBudget");
});

test("give the agent no right but to impersonate, once that is required", async () => {
  const { chart, namespace } = charts.agent;
  await cluster.create(namespaces, { metadata: { name: "team-a" } });
  const values = "--set=impersonation.required=true,impersonation.namespaces={team-a}";
  const agent = cluster.as({ user: `system:serviceaccount:${namespace}:${chart}`, groups: [] });
  const mayList = (resource: Resource<KubeObject>, where: string): Promise<boolean> =>
    agent.list(resource, { namespace: where }).then(
      () => true,
      (thrown: unknown) => {
        if (isForbidden(thrown)) return false;
        throw thrown;
      },
    );
  assert.equal(await mayList(secrets, "team-a"), true);

  await runHelm("upgrade", chart, chartDir(chart), `--namespace=${namespace}`, values);

  // The authorizer learns by a watch that the binding was deleted.
  while (await mayList(secrets, "team-a"));
  assert.equal(await mayList(secrets, namespace), true);
  assert.equal(await mayList(serviceAccounts, "team-a"), true);
  assert.equal(await mayList(secrets, "kube-system"), false);
  assert.equal(await mayList(serviceAccounts, "default"), false);
});

test("are uninstalled, also that of the CRDs first, which stay", async () => {
  for (const chart of crdCharts)
    await runHelm("uninstall", chart, `--namespace=${charts.hub.namespace}`);
  for (const { chart, namespace } of Object.values(charts))
    await runHelm("uninstall", chart, `--namespace=${namespace}`, "--wait", "--timeout=60s");

  assert.equal(JSON.parse(await runHelm("list", "--all-namespaces", "--output=json")).length, 0);
  const kept = await cluster.list(customResourceDefinitions, {});
  assert.ok(kept.items.some(({ metadata }) => metadata.name === "helmops.fleet.cattle.io"));
});
