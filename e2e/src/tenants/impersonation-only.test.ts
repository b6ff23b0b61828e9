/**
 * An agent that has no rights but to act as service accounts of one namespace: on a real fleet, whose API servers authorize by
 * RBAC, with exactly the rights of its chart.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { configMaps, namespaces, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseRecords, waitForRevision } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";

const run = promisify(execFile);
const tenant = "team-a";
const account = `${tenant}/deployer`;
const { fleet, charts, cluster } = await startFleetForFile({
  clusters: [{}],
  impersonationNamespaces: [tenant],
});
charts.publish(await configChart("app", "1.0.0"), await configChart("app", "1.1.0"));
const { workspace } = fleet;
const { client, name: clusterName } = cluster;

async function createAccount(name: string, ...inNamespaces: readonly string[]): Promise<void> {
  for (const namespace of inNamespaces)
    await client.create(roleBindings, {
      metadata: { namespace, name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
      subjects: [{ kind: "ServiceAccount", namespace: tenant, name }],
    });
  await client.create(serviceAccounts, { metadata: { namespace: tenant, name } });
}

const create = (name: string, spec: object = {}) =>
  workspace.createHelmOp(name, {
    namespace: tenant,
    serviceAccount: account,
    helm: { repo: charts.url, chart: "app", version: "1.0.0" },
    ...spec,
  });

async function history(release: string): Promise<readonly string[]> {
  const records = await releaseRecords(client, tenant, release);
  return records.map(({ revision, status }) => `${revision} ${status}`);
}

const valuesRef = { namespace: tenant, name: "values" };

describe("a HelmOp that names an account with its namespace", () => {
  test("is installed with values and copies that only the account may read and write", async () => {
    await createAccount("deployer", tenant);
    await client.create(configMaps, {
      metadata: valuesRef,
      data: { "values.yaml": "greeting: ahoy" },
    });
    await fleet.hub.create(secrets, {
      metadata: workspace.ref("copied"),
      stringData: { password: "known" },
    });

    await create("web", {
      downstreamResources: [{ kind: "Secret", name: "copied" }],
      helm: {
        ...{ repo: charts.url, chart: "app", version: "1.0.0" },
        valuesFrom: [{ configMapKeyRef: { ...valuesRef, key: "values.yaml" } }],
      },
    });
    await workspace.waitUntilReady("web", "1.0.0", 1);

    assert.equal((await installedConfig(client, "web", tenant))?.data?.["greeting"], "ahoy");
    const copied = await client.reader.get(secrets, { namespace: tenant, name: "copied" });
    assert.equal(copied?.data?.["password"], Buffer.from("known").toString("base64"));
  });

  test("is upgraded when its version or its values change", async () => {
    await workspace.patchHelmOp("web", { helm: { version: "1.1.0" } });
    await workspace.waitUntilReady("web", "1.1.0", 1);
    await client.patch(configMaps, valuesRef, {
      type: "merge",
      body: { data: { "values.yaml": "greeting: hoy" } },
    });
    await waitForRevision(client, "web", 3, "deployed", tenant);

    await workspace.waitUntilReady("web", "1.1.0", 1);
    assert.equal((await installedConfig(client, "web", tenant))?.data?.["greeting"], "hoy");
  });

  test("is installed again when somebody rolls it back", async () => {
    const args = [`--namespace=${tenant}`, `--kubeconfig=${cluster.plane.kubeconfig}`];
    await run(fleet.helm, ["rollback", "web", ...args]);

    await waitForRevision(client, "web", 5, "deployed", tenant);

    await workspace.waitUntilReady("web", "1.1.0", 1);
  });

  test("is not Ready when somebody deletes an object of it, and Ready when it is back", async () => {
    const config = await installedConfig(client, "web", tenant);
    assert.ok(config !== undefined);
    const { name, labels = {}, annotations = {} } = config.metadata;
    await client.delete(configMaps, { namespace: tenant, name });
    await workspace.waitForMessage("web", /web-config.*(missing|does not exist)/s);

    await client.create(configMaps, {
      metadata: { namespace: tenant, name, labels, annotations },
      data: config.data ?? {},
    });

    await workspace.waitUntilReady("web", "1.1.0", 1);
  });

  test("is in sync after a restart of the agent, without a run of Helm", async () => {
    const before = await history("web");
    await cluster.stopAgent();
    await cluster.startAgent();
    await create("after", {});

    await workspace.waitUntilReady("after", "1.0.0", 1);
    await workspace.waitUntilReady("web", "1.1.0", 1);

    assert.deepEqual(await history("web"), before);
  });

  test("is uninstalled with all that it had", async () => {
    await workspace.deleteHelmOp("web");
    await workspace.waitUntilUndeployed(clusterName, "web");

    assert.deepEqual(await history("web"), []);
    assert.equal(await installedConfig(client, "web", tenant), undefined);
    const copied = { namespace: tenant, name: "copied" };
    assert.equal(await client.reader.get(secrets, copied), undefined);
  });

  test("causes no request that is denied", async () => {
    const log = await readFile(cluster.agentLog, "utf8");

    // The milliseconds of a time may be 403.
    assert.doesNotMatch(log.replaceAll(/"time":"[^"]*"/g, ""), /\b403\b|may not|forbidden/i);
  });
});

describe("the agent", () => {
  test("may read no Secret but its own", async (t) => {
    const path = join(fleet.dir, `${cluster.plane.name}-agent.kubeconfig`);
    const agent = connectKube(await loadKubeconfig({ path }));
    t.onTestFinished(() => agent.close());

    await agent.list(secrets, { namespace: "flotilla-agent" });
    for (const options of [{ namespace: tenant }, { namespace: "kube-system" }, {}])
      await assert.rejects(agent.list(secrets, options), {
        code: "KUBE_FORBIDDEN",
        message: /service account flotilla-agent\/flotilla-agent may not list secrets/,
      });
  });
});

describe("a HelmOp is refused, with what to do, if", () => {
  const accounts = [
    [
      "it names no account",
      "",
      /the deployment names no service account.*set serviceAccount to NAMESPACE\/NAME of an account in namespace team-a/s,
    ],
    [
      "its account has no namespace",
      "deployer",
      /service account deployer has no namespace.*set serviceAccount to NAMESPACE\/NAME/s,
    ],
    [
      "its account is in a namespace that is not listed",
      "kube-system/generic-garbage-collector",
      /in namespace kube-system, of which this agent may impersonate no account.*impersonation\.namespaces of the chart flotilla-agent/s,
    ],
  ] as const;
  for (const [index, [what, serviceAccount, message]] of accounts.entries()) {
    test(what, async () => {
      await create(`refused-${index}`, { serviceAccount });
      await workspace.waitForMessage(`refused-${index}`, message);

      await workspace.deleteHelmOp(`refused-${index}`);
      await workspace.waitUntilUndeployed(clusterName, `refused-${index}`);
      assert.deepEqual(await history(`refused-${index}`), []);
    });
  }

  test("its account may not read Helm's records in its namespace, and continues when it may", async () => {
    await client.create(namespaces, { metadata: { name: "elsewhere" } });
    await create("outside", { namespace: "elsewhere" });
    await workspace.waitForMessage(
      "outside",
      /watch Helm's records in namespace elsewhere as service account team-a\/deployer: .*service account team-a\/deployer may not list secrets of API group "" in namespace elsewhere/s,
    );

    await client.create(roleBindings, {
      metadata: { namespace: "elsewhere", name: "deployer" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
      subjects: [{ kind: "ServiceAccount", namespace: tenant, name: "deployer" }],
    });

    await workspace.waitUntilReady("outside", "1.0.0", 1);
  });

  test("its account does not exist, and continues at once when it does", async () => {
    await create("early", { serviceAccount: `${tenant}/late` });
    await workspace.waitForMessage(
      "early",
      /service account team-a\/late not found.*continues as soon as it exists/s,
    );

    await createAccount("late", tenant);

    await workspace.waitUntilReady("early", "1.0.0", 1);
    await waitForObject(
      client,
      configMaps,
      { namespace: tenant, name: "early-config" },
      "installed",
      () => true,
    );
  });
});
