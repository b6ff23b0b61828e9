/** Flux's options of actions, with the real Helm on a real control plane: what each of them changes in a cluster. */
import assert from "node:assert/strict";
import type { AssignmentRequest } from "@flotilla/agent/state";
import type { DeploymentState } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import { configMaps, customResourceDefinitions, namespaces } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { type ChartArchive, chartArchive, configChart } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { configMapText, definitionText, rejectedText } from "../harness/object-text.ts";
import { installedConfig, releaseHistory } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

type Actions = NonNullable<DeploymentContent["actions"]>;

const plain = [await configChart("plain", "0.1.0"), await configChart("plain", "0.2.0")] as const;
/** No node has this label, so its pod is never scheduled. */
const never = await chartArchive({
  name: "never",
  version: "0.1.0",
  templates: {
    "pod.yaml": `apiVersion: v1
kind: Pod
metadata: {name: "{{ .Release.Name }}"}
spec:
  nodeSelector: {no: node}
  containers: [{name: main, image: example.com/main}]
`,
  },
});
/** A hook for each action, which leaves a ConfigMap with its name. */
const hooked = await Promise.all(
  ["0.1.0", "0.2.0"].map((version) =>
    chartArchive({
      name: "hooked",
      version,
      templates: {
        "config.yaml": configMapText("{{ .Release.Name }}-config", {
          data: "{version: {{ .Chart.Version }}}",
        }),
        "hooks.yaml": ["pre-install", "pre-upgrade", "pre-delete"]
          .map((event) => configMapText(event, { hook: event }))
          .join("---\n"),
      },
    }),
  ),
);
const [before, after] = hooked;
/** Its new object is created before the update that the API server rejects. */
const failing = await chartArchive({
  name: "plain",
  version: "0.3.0",
  templates: {
    "config.yaml": configMapText("{{ .Release.Name }}-config", { data: "{version: 0.3.0}" }),
    "new.yaml": configMapText("created"),
    "rejected.yaml": rejectedText(),
  },
});
/** Its hook has no namespace. */
const staying = await chartArchive({
  name: "staying",
  version: "0.1.0",
  templates: {
    "config.yaml": configMapText("{{ .Release.Name }}-config"),
    "hook.yaml": configMapText("parting", { namespace: "nowhere", hook: "pre-delete" }),
  },
});
/** The definition has a column for each version of the chart. */
const defining = await defined("0.1.0");
const redefining = await defined("0.2.0");

function defined(version: string): Promise<ChartArchive> {
  return chartArchive({
    name: "defining",
    version,
    templates: { "config.yaml": configMapText("{{ .Release.Name }}-config") },
    crds: {
      "widgets.yaml": [
        definitionText({ group: "options.example.com", kind: "Widget", column: `v${version}` }),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: no-definition}\n",
      ].join("---\n"),
    },
  });
}
charts.publish(...plain, staying, never, ...hooked, failing, defining, redefining);
assert.ok(before !== undefined && after !== undefined);

async function assign(
  name: string,
  chart: ChartArchive,
  actions: Actions,
  more: Partial<DeploymentSpec> = {},
): Promise<AssignmentRequest> {
  const request = await assignmentOf({ name, chart, url, actions, ...more });
  await agent.intake.assign(request);
  return request;
}

function deployed(name: string, { version }: ChartArchive): Promise<DeploymentState> {
  return agent.report(
    (state) =>
      state.name === name && state.phase === "deployed" && state.release?.chartVersion === version,
  );
}

function definition() {
  return client.reader.get(customResourceDefinitions, { name: "widgets.options.example.com" });
}

/** The columns of the definition in the cluster. */
async function columns(): Promise<readonly string[]> {
  const versions = (await definition())?.spec.versions ?? [];
  return versions.flatMap(({ additionalPrinterColumns = [] }) =>
    additionalPrinterColumns.map(({ name }) => name),
  );
}

async function has(namespace: string, name: string): Promise<boolean> {
  return (await client.reader.get(configMaps, { namespace, name })) !== undefined;
}

test("disableHooks runs no hooks of the action that has it", async () => {
  const actions = { install: { disableHooks: true }, uninstall: { disableHooks: true } };
  await assign("hooks", before, actions);
  await deployed("hooks", before);
  assert.equal(await has("hooks", "pre-install"), false);

  const { deployment } = await assign("hooks", after, actions);
  await deployed("hooks", after);
  assert.equal(await has("hooks", "pre-upgrade"), true);

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("hooks");
  assert.equal(await has("hooks", "pre-delete"), false);
});

test("a timeout waits for readiness and fails, unless disableWait is set", async () => {
  await assign("waiting", never, { timeoutSeconds: 1 });
  const failed = await agent.report(({ name, phase }) => name === "waiting" && phase === "failed");
  assert.match(
    failed.message,
    /release waiting\/waiting was not ready .*Pod waiting: is not scheduled/,
  );

  await assign("unwaited", never, { timeoutSeconds: 1, install: { disableWait: true } });
  assert.equal((await deployed("unwaited", never)).ready, false);
});

test("createNamespace false of the installation creates no namespace", async () => {
  await assign("placeless", plain[0], { install: { createNamespace: false } });

  const failed = await agent.report(
    ({ name, phase }) => name === "placeless" && phase === "failed",
  );

  assert.match(failed.message, /namespaces "placeless" not found/);
  assert.equal(await client.reader.get(namespaces, { name: "placeless" }), undefined);
});

test("crds Skip leaves the chart's definitions out", async () => {
  const definition = { name: "widgets.options.example.com" };
  await assign("skipped", defining, { install: { crds: "Skip" } });
  await deployed("skipped", defining);
  assert.equal(await client.reader.get(customResourceDefinitions, definition), undefined);

  await assign("created", defining, { install: { crds: "Create" } });
  await deployed("created", defining);
  assert.deepEqual(await columns(), ["v0.1.0"]);

  await assign("created", redefining, {});
  await deployed("created", redefining);
  assert.deepEqual(await columns(), ["v0.1.0"]);
});

test("crds CreateReplace replaces the chart's definitions, with a label that names the deployment", async () => {
  await client.patch(
    customResourceDefinitions,
    { name: "widgets.options.example.com" },
    { type: "merge", body: { metadata: { labels: { team: "a" } } } },
  );

  await assign("replaced", redefining, { install: { crds: "CreateReplace" } });
  await deployed("replaced", redefining);

  assert.deepEqual(await columns(), ["v0.2.0"]);
  const { labels } = (await definition())?.metadata ?? {};
  assert.deepEqual(labels, { team: "a", "flotilla.dev/deployment": "replaced" });
  assert.equal(await has("replaced", "no-definition"), false);
});

test("crds Create of an upgrade creates a definition that is missing, and replaces none", async () => {
  const actions = { install: { crds: "Skip" }, upgrade: { crds: "Create" } } as const;
  await assign("upgraded", redefining, actions);
  await deployed("upgraded", redefining);
  await assign("upgraded", defining, actions);
  await deployed("upgraded", defining);
  assert.deepEqual(await columns(), ["v0.2.0"]);

  await client.delete(customResourceDefinitions, { name: "widgets.options.example.com" });
  await assign("upgraded", redefining, actions, { values: { again: true } });
  await agent.report(({ name, release }) => name === "upgraded" && release?.revision === 3);
  assert.deepEqual(await columns(), ["v0.2.0"]);
});

test("cleanupOnFail deletes what a failed upgrade has created", async () => {
  for (const [name, cleanupOnFail] of [
    ["kept", false],
    ["cleaned", true],
  ] as const) {
    const actions = { upgrade: { cleanupOnFail } };
    await assign(name, plain[0], actions);
    await deployed(name, plain[0]);
    await assign(name, failing, actions);
    await agent.report((state) => state.name === name && state.phase === "failed");

    assert.equal(await has(name, "created"), !cleanupOnFail, name);
  }
});

test("preserveValues merges the values over those of the revision before", async () => {
  const actions = { upgrade: { preserveValues: true } };
  await assign("values", plain[0], actions, { values: { greeting: "kept" } });
  await deployed("values", plain[0]);

  await assign("values", plain[1], actions, { values: { other: 1 } });
  await deployed("values", plain[1]);

  assert.equal((await installedConfig(client, "values"))?.data?.["greeting"], "kept");
});

test("serverSideApply decides how objects are written", async () => {
  /** Helm's fields are managed by an Apply, or by an Update. */
  const operationsOf = async (name: string) =>
    JSON.stringify((await installedConfig(client, name))?.metadata).match(/"operation":"\w+"/g);
  await assign("applied", plain[0], { install: { serverSideApply: true } });
  await assign("patched", plain[0], { install: { serverSideApply: false } });
  await Promise.all(["applied", "patched"].map((name) => deployed(name, plain[0])));

  assert.deepEqual(await operationsOf("applied"), ['"operation":"Apply"']);
  assert.deepEqual(await operationsOf("patched"), ['"operation":"Update"']);
});

test("keepHistory keeps the records, and the release can be installed again", async () => {
  const actions = { uninstall: { keepHistory: true, disableWait: false } };
  const { deployment } = await assign("history", plain[0], actions);
  await deployed("history", plain[0]);

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("history");
  assert.deepEqual(await releaseHistory(client, "history"), ["1 uninstalled"]);
  assert.equal(await installedConfig(client, "history"), undefined);

  await assign("history", plain[1], actions, { uid: "again" });
  await deployed("history", plain[1]);
  assert.deepEqual(await releaseHistory(client, "history"), ["1 superseded", "2 deployed"]);
});

test("an uninstallation that fails is repeated after its backoff, and not for what it changes itself", async () => {
  const { deployment } = await assign("staying", staying, {});
  await deployed("staying", staying);

  await agent.intake.withdraw(deployment);
  await agent.report(({ name, message }) => name === "staying" && /Hook pre-delete/.test(message));
  await assign("beside", plain[0], {});
  await deployed("beside", plain[0]);

  const runs = agent.helmRuns.filter(
    ([command, ...args]) => command === "uninstall" && args.includes("staying"),
  );
  assert.equal(runs.length, 1);
});
