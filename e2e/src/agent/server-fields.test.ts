/** Charts with fields that the API server sets or needs, with the real Helm on a real control plane. */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import { configMaps, deployments } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { configMapText } from "../harness/object-text.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { isDeployed } from "./agent-reports.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { webText } from "./unchangeable-charts.ts";

const { client, charts, spec } = await startAgentCluster();
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

async function assign(
  name: string,
  chart: ChartArchive,
  more: Partial<DeploymentSpec> = {},
): Promise<void> {
  await agent.intake.assign(await assignmentOf({ name, chart, url: charts.url, ...more }));
}

function failedState(name: string): Promise<DeploymentState> {
  return agent.report((state) => state.name === name && state.phase === "failed");
}

function deployed(name: string, { version }: ChartArchive): Promise<DeploymentState> {
  return agent.report(isDeployed(name, version));
}

function releasedText({ conditions = [] }: DeploymentState): string {
  return conditions.find(({ type }) => type === "Released")?.message ?? "";
}

test("an object that was copied from a cluster with its UID is installed client-side, and its upgrade names the field", async () => {
  const copied = (version: string) =>
    chartArchive({
      ...{ name: "with-uid", version },
      templates: {
        "config.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: config, uid: 0d1c2f3a-0000-4000-8000-000000000000, generation: 7}
data: {version: "${version}"}
`,
      },
    });
  const [first, second] = await Promise.all([copied("1.0.0"), copied("2.0.0")]);
  charts.publish(first, second);
  await assign("with-uid", first);
  assert.match(
    releasedText(await deployed("with-uid", first)),
    /server-side apply refuses metadata\.uid of ConfigMap with-uid\/config: only the API server sets it$/,
  );

  await assign("with-uid", second);

  const { message } = await failedState("with-uid");
  assert.match(
    message,
    /refuses to change metadata\.uid of ConfigMap config, because the field is/,
  );
});

test("two ports with one number are installed client-side, with a remark, upgraded and without drift", async () => {
  const drift = { mode: "enabled" } as const;
  const ref = { namespace: "ports", name: "web" };
  for (const [version, second] of [
    ["1.0.0", "metrics"],
    ["2.0.0", "admin"],
  ] as const) {
    const ports = `ports: [{name: http, containerPort: 8080}, {name: ${second}, containerPort: 8080}]`;
    const templates = { "web.yaml": webText(ports) };
    const chart = await chartArchive({ name: "ports", version, templates });
    charts.publish(chart);
    await assign("ports", chart, { drift });

    assert.match(
      releasedText(await deployed("ports", chart)),
      /applied client-side, because server-side apply refuses spec\.template\.spec\.containers\[name="web"\]\.ports of Deployment ports\/web: two entries of it have the same key$/,
    );
    const request = { token: version, force: false, reset: false };
    await assign("ports", chart, { drift, request });
    const { request: answer } = await agent.report((state) => state.request?.token === version);
    assert.equal(answer?.result, "InSync");
    const { spec } = (await client.reader.get(deployments, ref)) ?? {};
    const found = JSON.stringify(spec?.template.spec?.containers).matchAll(
      /"containerPort":8080,"name":"(\w+)"/g,
    );
    assert.deepEqual(
      [...found].map(([, name]) => name),
      ["http", second],
    );
  }
});

test("a hook with generateName runs client-side if Helm need not delete it, and leaves an object for each run", async () => {
  const hooked = (name: string, version: string, policy: string) =>
    chartArchive({
      ...{ name, version },
      templates: {
        "hook.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: made-
  annotations: {helm.sh/hook: "pre-install,pre-upgrade"${policy}}
`,
        "config.yaml": configMapText("config", { data: `{version: "${version}"}` }),
      },
    });
  const onFailure = ", helm.sh/hook-delete-policy: hook-failed";
  const [first, second, unnamed] = await Promise.all([
    hooked("named", "1.0.0", onFailure),
    hooked("named", "2.0.0", onFailure),
    hooked("unnamed", "1.0.0", ""),
  ]);
  charts.publish(first, second, unnamed);
  for (const chart of [first, second]) {
    await assign("named", chart);
    await deployed("named", chart);
  }
  const made = (await client.reader.list(configMaps, { namespace: "named" })).filter(
    ({ metadata }) => metadata.name.startsWith("made-"),
  );
  assert.equal(made.length, 2);

  await assign("unnamed", unnamed);

  const { message } = await failedState("unnamed");
  assert.match(message, /failed pre-install: resource name may not be empty; retrying at /);
});

test("an upgrade that the client cannot make a patch for names the list, and the chart without it is upgraded", async () => {
  const pods = (version: string, secrets: string) =>
    chartArchive({
      ...{ name: "keyless", version },
      templates: {
        "web.yaml": webText("env: []").replace("      containers:", `${secrets}      containers:`),
      },
    });
  const named = "      imagePullSecrets: [{name: {{ .Values.secret }}}]\n";
  const [first, second, third] = await Promise.all([
    pods("1.0.0", named),
    pods("2.0.0", named),
    pods("3.0.0", ""),
  ]);
  charts.publish(first, second, third);
  const actions = { install: { serverSideApply: false } };
  await assign("keyless", first, { actions });
  await deployed("keyless", first);

  await assign("keyless", second, { actions });
  const failed = await failedState("keyless");

  assert.match(
    failed.message,
    /: a patch by the client cannot change Deployment keyless\/web, because spec\.template\.spec\.imagePullSecrets\[0\] has no name in revision 2, by which the list is merged; leave spec\.template\.spec\.imagePullSecrets out of the chart for one upgrade, and give each entry its name then; retrying at /,
  );
  await assign("keyless", third, { actions });
  await deployed("keyless", third);
});
