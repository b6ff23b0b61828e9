/** `flotilla logs`, `flotilla diff` and `flotilla history`: from the command line over two replicas of the hub to two agents. */
import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import type { BundleDeployment } from "@flotilla/shared/api";
import { requestsAudience, workspaceNamespace } from "@flotilla/shared/api/names";
import {
  configMaps,
  type KubeObject,
  type Resource,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { afterAll, describe, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import {
  accountRef,
  clusterRoleBindings,
  clusterRoleFor,
  clusterRoles,
  roleBindings,
} from "../harness/rbac.ts";
import { nodeName, startKubelet } from "./kubelet.ts";

type AnyObject = KubeObject & Readonly<Record<string, unknown>>;
const core = (kind: string, plural: string): Resource<AnyObject> => ({
  ...{ group: "", version: "v1", kind, plural, namespaced: true },
});
const pods = core("Pod", "pods");

const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}, {}], replicas: 2 });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { hub, workspace, replicas } = fleet;
const [one, two] = fleet.clusters.map(({ name }) => name);
const kubelet = await startKubelet(cluster.client, fleet.dir);
afterAll(() => kubelet.close());

const token = "hunter2-hunter2";
const chart = (version: string) =>
  chartArchive({
    name: "shop",
    version,
    values: "greeting: hello\n",
    templates: {
      "all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data: {version: {{ .Chart.Version | quote }}, greeting: {{ .Values.greeting }}}
---
apiVersion: v1
kind: Secret
metadata: {name: shop}
stringData: {token: ${token}, user: shop}
{{- if .Values.node }}
---
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  nodeName: {{ .Values.node }}
  containers: [{name: web, image: example.com/web}, {name: proxy, image: example.com/proxy}]
{{- end }}
---
apiVersion: v1
kind: Pod
metadata: {name: shop-test, annotations: {helm.sh/hook: test}}
spec:
  restartPolicy: Never
  containers: [{name: check, image: example.com/check}]
`,
    },
  });
charts.publish(await chart("1.0.0"), await chart("1.1.0"));

const release = (version: string, values: Readonly<Record<string, string>> = {}) => ({
  helm: { repo: charts.url, chart: "shop", version, values },
});
const onlyFirst = { targets: [{ clusterName: one ?? "" }] };

await workspace.createHelmOp("shop", release("1.0.0"));
// Its pod never runs, so it does not get ready.
await workspace.createHelmOp("logs", {
  ...{ ...release("1.0.0", { node: nodeName }), ...onlyFirst },
});
await createReader("reader", ["log", "diff", "history"]);
await createReader("historian", ["history"]);
await createReader("nobody", []);
await workspace.waitUntilReady("shop", "1.0.0", 2);
await workspace.patchHelmOp("shop", { helm: { version: "1.1.0" } });
await workspace.waitUntilReady("shop", "1.1.0", 2);

/** A service account of the workspace that may get these of its deployments. */
async function createReader(name: string, what: readonly string[]): Promise<void> {
  const namespace = workspaceNamespace;
  const resources = what.map((each) => `bundledeployments/${each}`);
  await hub.create(serviceAccounts, { metadata: { namespace, name } });
  if (what.length === 0) return;
  await hub.create(clusterRoles, {
    metadata: { name },
    rules: [{ apiGroups: ["fleet.cattle.io"], resources, verbs: ["get"] }],
  });
  await hub.create(roleBindings, {
    metadata: { namespace, name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
}

function hubUrl(index = 0): string {
  return `http://127.0.0.1:${replicas[index]?.ports.http}`;
}

function start(args: readonly string[], { account = "reader", replica = 0 } = {}) {
  return flotilla.start(
    ...args,
    `--kubeconfig=${fleet.hubPlane.kubeconfig}`,
    `--hub-url=${hubUrl(replica)}`,
    `--service-account=${account}`,
  );
}

const run = (args: readonly string[], options?: Parameters<typeof start>[1]) =>
  start(args, options).ended;

async function failure(...call: Parameters<typeof start>): Promise<string> {
  const { code, stderr } = await run(...call);
  // As with kubectl diff, 1 says that something differs.
  assert.equal(code, call[0][0] === "diff" ? 2 : 1, stderr);
  return stderr;
}

describe("flotilla history", () => {
  test("lists all revisions, whichever replicas the command and the agents are connected to", async () => {
    for (const replica of [0, 1])
      for (const name of [one, two]) {
        const args = ["history", "helmop/shop", `--cluster=${name}`];
        const { stdout, stderr } = await run(args, { replica });

        const [head, newest, oldest] = stdout.split("\n");
        assert.match(head ?? "", /^REVISION +UPDATED +STATUS +CHART/, stderr);
        assert.match(
          newest ?? "",
          /^2 +2\S+ +deployed +shop-1\.1\.0 +1\.1\.0 +ChartChanged +shop-test not run/,
        );
        assert.match(
          oldest ?? "",
          /^1 +2\S+ +superseded +shop-1\.0\.0 .* NotInstalled .* Install complete$/,
        );
      }
  });

  test("as JSON has one line for each revision", async () => {
    const { stdout } = await run(["history", "helmop/logs", "-o", "json"]);

    const lines = stdout.trim().split("\n");
    const entry = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    const { revision, chartVersion, reasons, tests } = entry;
    assert.equal(lines.length, 1);
    assert.deepEqual(
      { revision, chartVersion, reasons, tests },
      {
        revision: 1,
        chartVersion: "1.0.0",
        reasons: ["NotInstalled"],
        tests: [{ name: "shop-test", phase: "not run" }],
      },
    );
  });

  test("needs a Cluster if there are several", async () => {
    assert.match(
      await failure(["history", "helmop/shop"]),
      /^flotilla: HelmOp fleet-default\/shop is deployed to 2 Clusters; choose one with --cluster: fleet-default\/cluster-1, fleet-default\/cluster-2\n$/,
    );
  });

  test("says what does not exist", async () => {
    assert.match(await failure(["history", "nothing"]), /HelmOp fleet-default\/nothing has no/);
    assert.match(
      await failure(["history", "helmop/logs", "--cluster=cluster-2"]),
      /HelmOp fleet-default\/logs is not deployed to Cluster fleet-default\/cluster-2/,
    );
  });
});

describe("flotilla diff", () => {
  test("shows what was changed in the cluster, without values of Secrets, and changes nothing", async () => {
    const { client } = cluster;
    const ref = { namespace: "shop", name: "shop" };
    await client.patch(configMaps, ref, { type: "merge", body: { data: { greeting: "rude" } } });
    const data = { token: Buffer.from("leaked").toString("base64") };
    await client.patch(secrets, ref, { type: "merge", body: { data } });

    const { code, stdout, stderr } = await run(["diff", "helmop/shop", "--cluster=cluster-1"]);

    assert.equal(code, 1);
    assert.match(stdout, /^--- live v1 ConfigMap shop\/shop$/m, stderr);
    assert.match(stdout, /^- {2}greeting: rude$/m);
    assert.match(stdout, /^\+ {2}greeting: hello$/m);
    assert.match(stdout, /^- {2}token: "?\*\*\* \(live\)"?$/m);
    assert.match(stdout, /^\+ {2}token: "?\*\*\* \(desired\)"?$/m);
    for (const value of ["leaked", token])
      for (const text of [value, Buffer.from(value).toString("base64")])
        assert.ok(!stdout.includes(text));
    assert.equal((await client.reader.get(configMaps, ref))?.data?.["greeting"], "rude");
  });

  test("is empty in the other cluster", async () => {
    const { code, stdout, stderr } = await run(["diff", "helmop/shop", "--cluster=cluster-2"]);

    assert.deepEqual([code, stdout], [0, "no differences\n"], stderr);
  });
});

describe("flotilla logs", () => {
  test("prints those of each container of the release's pods", async () => {
    kubelet.logs.set("logs/shop/web", "started\nserving\n");
    kubelet.logs.set("logs/shop/proxy", "ready\n");
    await installed("logs");

    const { stdout, stderr } = await run(["logs", "helmop/logs", "--tail=7", "--since=5m"]);

    assert.equal(
      stdout,
      "[shop/web] started\n[shop/web] serving\n[shop/proxy] ready\n",
      `${stderr} ${kubelet.requests.join(" ")}`,
    );
    assert.match(kubelet.requests.join("\n"), /shop\/web\?.*sinceSeconds=300.*tailLines=7/);
  });

  test("prints those of one container, and of the pods of tests", async () => {
    kubelet.logs.set("logs/shop-test/check", "passed\n");
    assert.match(
      await failure(["logs", "helmop/logs", "--test"]),
      /the pods of the tests of release logs\/\S+ \(shop-test\) do not exist/,
    );
    await cluster.client.create(pods, {
      metadata: { namespace: "logs", name: "shop-test" },
      spec: { nodeName, containers: [{ name: "check", image: "example.com/check" }] },
    });

    const ofTest = await run(["logs", "helmop/logs", "--test"]);
    const ofProxy = await run(["logs", "helmop/logs", "--container=proxy"]);

    assert.equal(ofTest.stdout, "[shop-test/check] passed\n", ofTest.stderr);
    assert.equal(ofProxy.stdout, "[shop/proxy] ready\n", ofProxy.stderr);
  });

  test("is cancelled in the cluster when the command is interrupted", async () => {
    kubelet.logs.delete("logs/shop/web");
    const asked = kubelet.requests.length;
    const command = start(["logs", "helmop/logs", "--container=web"], { replica: 1 });
    await kubelet.until(() => kubelet.requests.length > asked, "the kubelet is asked");

    command.child.kill("SIGINT");

    await kubelet.until(() => kubelet.cancelled.includes("logs/shop/web"), "cancelled");
    await command.ended;
  });

  test("prints the error of the API server where the account may not read logs", async () => {
    const { client } = cluster;
    await client.create(serviceAccounts, { metadata: accountRef("tenant") });
    await client.create(clusterRoles, {
      metadata: { name: "tenant" },
      rules: [
        {
          apiGroups: [""],
          resources: ["namespaces", "configmaps", "secrets", "pods"],
          verbs: ["*"],
        },
      ],
    });
    await client.create(clusterRoleBindings, {
      metadata: { name: "tenant" },
      ...clusterRoleFor("tenant", "tenant"),
    });
    await workspace.createHelmOp("limited", {
      ...{ ...release("1.0.0", { node: nodeName }), ...onlyFirst, serviceAccount: "tenant" },
    });
    await installed("limited");

    assert.match(
      await failure(["logs", "helmop/limited"]),
      /service account flotilla-agent\/tenant may not get pods\/log "shop" of API group "" in namespace limited/,
    );
  });
});

test("a request over the API server reaches the hub with its token, and is cancelled with it", async () => {
  await exposeHub();
  const args = [`--kubeconfig=${fleet.hubPlane.kubeconfig}`, "--service-account=reader"];

  const { stdout, stderr } = await flotilla.run("history", "helmop/logs", ...args);
  assert.match(stdout, /^1 +2\S+ +deployed +shop-1\.0\.0/m, stderr);

  const before = kubelet.cancelled.length;
  const asked = kubelet.requests.length;
  kubelet.logs.delete("logs/shop/web");
  const command = flotilla.start("logs", "helmop/logs", "--container=web", ...args);
  await kubelet.until(() => kubelet.requests.length > asked, "the kubelet is asked");
  command.child.kill("SIGINT");
  await kubelet.until(() => kubelet.cancelled.length > before, "cancelled");
  await command.ended;
});

describe("a request is rejected", () => {
  test("without the right to that subresource in the workspace", async () => {
    const of = { account: "historian" };
    const args = ["helmop/shop", "--cluster=cluster-1"];
    assert.equal((await run(["history", ...args], of)).code, 0);
    assert.match(
      await failure(["diff", ...args], of),
      /^flotilla: system:serviceaccount:fleet-default:historian may not get bundledeployments\/diff of API group fleet\.cattle\.io in namespace fleet-default\n$/,
    );
    assert.match(
      await failure(["history", "helmop/nothing"], { account: "nobody" }),
      /nobody may not get bundledeployments\/history/,
    );
  });

  test("with a token for the API server, and without one", async () => {
    const url = `${hubUrl()}/requests/v1/namespaces/${workspaceNamespace}/helmops/shop/history`;
    const statusWith = async (headers: Record<string, string>) =>
      (await fetch(url, { headers })).status;

    assert.equal(await statusWith({}), 401);
    assert.equal(await statusWith({ "flotilla-token": await tokenOf([]) }), 401);
    assert.equal(await statusWith({ "flotilla-token": await tokenOf([requestsAudience]) }), 409);
  });

  test("while the agent is offline", async () => {
    await fleet.clusters[1]?.stopAgent();
    await workspace.waitForCluster("cluster-2", "offline", ({ status }) => {
      return status?.agent?.connected === false;
    });

    assert.match(
      await failure(["history", "helmop/shop", "--cluster=cluster-2"]),
      /^flotilla: the agent of Cluster fleet-default\/cluster-2 is offline since 2\S+\n$/,
    );
  });
});

/**
 * As the chart does, by a Service: its endpoint is an address of this machine that is not loopback, because API servers pass
 * nothing on to loopback addresses.
 */
async function exposeHub(): Promise<void> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = all.find(({ family, internal }) => family === "IPv4" && !internal);
  assert.ok(own, "this machine has no address but loopback");
  const proxy = createServer((client) => {
    const hubSocket = connect(replicas[0]?.ports.http ?? 0, "127.0.0.1");
    for (const [one, other] of [
      [client, hubSocket],
      [hubSocket, client],
    ] as const)
      one
        .on("error", () => other.destroy())
        .on("close", () => other.destroy())
        .pipe(other);
  });
  await new Promise<void>((resolve) => proxy.listen(0, own.address, resolve));
  afterAll(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const metadata = { namespace: "flotilla-system", name: "flotilla" };
  const ports = [{ name: "http", port }];
  const ip = own.address;
  await hub.create(pods, {
    metadata,
    spec: { serviceAccountName: "flotilla", containers: [{ name: "hub", image: "hub" }] },
  });
  const body = { status: { podIP: ip, podIPs: [{ ip }] } };
  await hub.patch(pods, metadata, { type: "merge", body }, { subresource: "status" });
  await hub.create(core("Service", "services"), { metadata, spec: { ports } });
  // The API server passes requests on to endpoints of pods alone.
  const addresses = [{ ip, targetRef: { kind: "Pod", ...metadata } }];
  await hub.create(core("Endpoints", "endpoints"), { metadata, subsets: [{ addresses, ports }] });
}

async function tokenOf(audiences: readonly string[]): Promise<string> {
  const path = `/api/v1/namespaces/${workspaceNamespace}/serviceaccounts/reader/token`;
  const body = JSON.stringify({
    ...{ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences } },
  });
  const answer = JSON.parse(await hub.raw(path, { body })) as {
    readonly status: { readonly token: string };
  };
  return answer.status.token;
}

/** Resolves when the agent has reported the release. */
async function installed(name: string): Promise<void> {
  const isInstalled = ({ status }: BundleDeployment) => (status?.release ?? "") !== "";
  await workspace.waitForBundleDeployment(cluster.name, name, "installed", isInstalled);
}
