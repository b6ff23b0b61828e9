/** Post-renderers and common metadata, with the real Helm and kustomize on a real control plane. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DeploymentState } from "@flotilla/proto";
import {
  type ConfigMap,
  configMaps,
  type KubeObject,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { releaseHistory } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { hookText, wildChart } from "./wild-chart.ts";

const { client, charts, spec } = await startAgentCluster();
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: { readonly containers: readonly { readonly image: string }[] };
    };
  };
}

const deployments: Resource<Deployment> = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};

const chart = await chartArchive({
  name: "shop",
  version: "1.0.0",
  templates: {
    "app.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: app, labels: {team: chart, app: app}}
spec:
  replicas: 0
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers: [{name: main, image: "example.com/main:1.0"}]
`,
    "config.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data: {greeting: hello, number: "0777", text: "yes"}
`,
    "list.yaml": `apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: first}, data: {a: b}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: second}, data: {a: b}}
`,
    "hooks.yaml": [
      hookText("name: hook", "pre-install"),
      hookText("name: hook", "pre-upgrade"),
      `{{ if .Values.generate }}\n${hookText("generateName: generated-", "post-install", "hook-failed")}{{ end }}`,
    ].join("---\n"),
  },
});
const wild = await wildChart();
const empty = await chartArchive({ name: "empty", version: "1.0.0", templates: {} });
/** A chart of which kustomize takes each object. */
const plain = await configChart("plain", "1.0.0");
charts.publish(chart, wild, empty, plain);

type Renderers = Pick<
  DeploymentSpec,
  "postRenderers" | "commonMetadata" | "helm" | "actions" | "values"
>;

/** Resolves with the state in which the deployment is in sync, or with its error. */
async function deploy(
  name: string,
  renderers: Renderers,
  archive = chart,
): Promise<DeploymentState> {
  const assignment = await assignmentOf({ name, chart: archive, url: charts.url, ...renderers });
  const before = new Set(agent.reports);
  await agent.intake.assign(assignment);
  return await agent.report(
    (state) =>
      state.name === name &&
      !before.has(state) &&
      state.deploymentId === assignment.deploymentId &&
      (state.phase === "deployed" || state.phase === "failed"),
  );
}

async function deployed(name: string, renderers: Renderers, archive = chart): Promise<void> {
  const { phase, message } = await deploy(name, renderers, archive);
  assert.equal(phase, "deployed", message);
}

async function app(namespace: string): Promise<Deployment> {
  const found = await client.reader.get(deployments, { namespace, name: "app" });
  assert.ok(found !== undefined);
  return found;
}

async function config(namespace: string, name = "config"): Promise<ConfigMap> {
  const found = await client.reader.get(configMaps, { namespace, name });
  assert.ok(found !== undefined, name);
  return found;
}

async function manifestOf(release: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    spec.helm,
    ["get", "manifest", release, `--namespace=${release}`],
    { env: { HOME: spec.dataDir, KUBECONFIG: spec.kubeconfig } },
  );
  return stdout;
}

/** A patch for all objects of a kind. */
function teamOf(kind: string): string {
  return `apiVersion: v1\nkind: ${kind}\nmetadata: {name: any, labels: {team: a}}\n`;
}

function greeting(text: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {greeting: ${text}}\n`;
}

test("an image is replaced, in what Helm stores, too, and no file of the run is left", async () => {
  await deployed("image", {
    postRenderers: [
      { images: [{ name: "example.com/main", newName: "mirror.example.com/main", newTag: "2.0" }] },
    ],
  });

  const { containers } = (await app("image")).spec.template.spec;
  assert.equal(containers[0]?.image, "mirror.example.com/main:2.0");
  assert.match(await manifestOf("image"), /image: mirror\.example\.com\/main:2\.0\n/);
  assert.deepEqual((await config("image")).data, {
    greeting: "hello",
    number: "0777",
    text: "yes",
  });
  assert.deepEqual(await readdir(join(spec.dataDir, "post-renderers", "runs")), []);
});

test("patches of both kinds are applied one after the other, and a later renderer sees the result of an earlier one", async () => {
  await deployed("patched", {
    postRenderers: [
      {
        patches: [
          { patch: greeting("first") },
          {
            patch: "- {op: replace, path: /data/greeting, value: second}",
            target: { kind: "ConfigMap", name: "conf.*" },
          },
        ],
      },
      {
        patches: [
          {
            patch: `[
              {"op": "test", "path": "/data/greeting", "value": "second"},
              {"op": "add", "path": "/data/after", "value": "both"}
            ]`,
            target: { kind: "ConfigMap", name: "config" },
          },
        ],
      },
    ],
  });

  const { data } = await config("patched");
  assert.deepEqual([data?.["greeting"], data?.["after"]], ["second", "both"]);
});

test("common metadata is set on all objects and hooks, over that of the chart and of patches, and not on selectors and pods", async () => {
  const patch = `${greeting("patched")}`.replace(
    "{name: config}",
    "{name: config, labels: {team: patch}}",
  );
  await deployed("labelled", {
    values: { generate: true },
    // By server-side apply Helm creates no object with a generated name.
    actions: { install: { serverSideApply: false } },
    postRenderers: [{ patches: [{ patch }] }],
    commonMetadata: { labels: { team: "a", tier: "web" }, annotations: { note: "${HOME} yes" } },
  });

  const { metadata, spec: found } = await app("labelled");
  assert.deepEqual([metadata.labels?.["team"], metadata.labels?.["tier"]], ["a", "web"]);
  assert.equal(metadata.annotations?.["note"], "${HOME} yes");
  assert.deepEqual(found.selector.matchLabels, { app: "app" });
  assert.deepEqual(found.template.metadata, { labels: { app: "app" } });
  for (const name of ["config", "first", "second", "hook"]) {
    const { metadata: own } = await config("labelled", name);
    assert.deepEqual([own.labels?.["team"], own.annotations?.["note"]], ["a", "${HOME} yes"], name);
  }
  const all = await client.reader.list(configMaps, { namespace: "labelled" });
  const generated = all.find((each) => each.metadata.name.startsWith("generated-"));
  assert.equal(generated?.metadata.labels?.["team"], "a");
});

test("common metadata alone is set on hooks of one name, objects of a list and generated names, too", async () => {
  const commonMetadata = { labels: { team: "a" }, annotations: { note: "${HOME} yes" } };
  await deployed("metadata", {
    values: { generate: true },
    actions: { install: { serverSideApply: false } },
    commonMetadata,
  });

  for (const name of ["config", "first", "second", "hook"]) {
    const { metadata } = await config("metadata", name);
    assert.deepEqual(
      [metadata.labels?.["team"], metadata.annotations?.["note"]],
      ["a", "${HOME} yes"],
      name,
    );
  }
  const all = await client.reader.list(configMaps, { namespace: "metadata" });
  const generated = all.find((each) => each.metadata.name.startsWith("generated-"));
  assert.equal(generated?.metadata.labels?.["team"], "a");
  assert.deepEqual(await releaseHistory(client, "metadata"), ["1 deployed"]);

  await deployed("no-objects", { commonMetadata }, empty);
  assert.deepEqual(await releaseHistory(client, "no-objects"), ["1 deployed"]);
  await deployed("plain", { commonMetadata }, plain);
  assert.equal((await config("plain", "plain-config")).metadata.labels?.["team"], "a");
  assert.match(await manifestOf("plain"), /^ {4}note: \$\{HOME\} yes$/m);
});

const wildRenderers: readonly (readonly [string, Renderers])[] = [
  ["wild-metadata", { commonMetadata: { labels: { team: "a" } } }],
  [
    "wild-patched",
    { postRenderers: [{ patches: [{ patch: teamOf("ConfigMap"), target: {} }] }, { images: [] }] },
  ],
];
for (const [namespace, renderers] of wildRenderers)
  test(`what Helm and kustomize would change is as the chart says (${namespace})`, async () => {
    await deployed(namespace, renderers, wild);

    const { data, metadata } = await config(namespace, "folded");
    assert.deepEqual(data, {
      expr: "sum(rate(requests_total[5m]))\n  by (job)\n> 10\n",
      note: "Steps:\n  - stop\n  - start\nthen check",
      revision: "1 false",
    });
    assert.equal(metadata.labels?.["team"], "a");
    for (const name of ["one", "two"])
      assert.deepEqual((await config(namespace, name)).data, { colour: "green" });
    const found = await app(namespace);
    const own = { "example.com/note": "shared" };
    assert.deepEqual(found.spec.template.metadata.annotations, own);
    assert.equal(found.metadata.annotations?.["example.com/note"], "shared");
    const alias = await config(namespace, "alias");
    assert.equal(alias.metadata.annotations?.["note"], "alias");
    assert.deepEqual((await config(namespace, "twice")).metadata.labels?.["tier"], "back");
    const local = await config(namespace, "local");
    assert.equal(local.metadata.annotations?.["config.kubernetes.io/local-config"], "true");
    assert.equal((await config(namespace, "wild-hook")).metadata.labels?.["team"], "a");
    const manifest = await manifestOf(namespace);
    assert.match(manifest, /^# Source: wild\/templates\/list\.yaml$/m);
    assert.match(manifest, /^ {2}"?on"?: true$|^ {2}"true": true$/m);
    assert.ok(!manifest.includes("postrenderer.helm.sh"), manifest);
    assert.deepEqual(await releaseHistory(client, namespace), ["1 deployed"]);

    await deployed(namespace, { ...renderers, values: { changed: true } }, wild);

    assert.equal((await config(namespace, "folded")).data?.["revision"], "2 true");
  });

test("an object is left out for a patch that says so", async () => {
  const patch = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, annotations: {config.kubernetes.io/local-config: "true"}}\n`;
  await deployed("left-out", { postRenderers: [{ patches: [{ patch }] }] });

  assert.equal(
    await client.reader.get(configMaps, { namespace: "left-out", name: "config" }),
    undefined,
  );
});

test("a hook of another time with the same name is patched and run, too", async () => {
  const patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook}\ndata: {patched: 'yes'}\n";
  await deployed("hooked", { postRenderers: [{ patches: [{ patch }] }] });
  assert.deepEqual((await config("hooked", "hook")).data, {
    events: "pre-install",
    patched: "yes",
  });

  await deployed("hooked", {
    postRenderers: [{ patches: [{ patch }] }],
    commonMetadata: { labels: { a: "b" } },
  });

  assert.deepEqual((await config("hooked", "hook")).data, {
    events: "pre-upgrade",
    patched: "yes",
  });
});

test("a patch that does not apply fails with the sentence of kustomize, and changes nothing", async () => {
  await deployed("failing", {});
  const patches = [
    { patch: greeting("first") },
    { patch: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: missing}\n" },
  ];
  const { code, message } = await deploy("failing", { postRenderers: [{}, { patches }] });

  assert.equal(code, "HELM_FAILED");
  assert.match(
    message,
    /^helm upgrade --install of release failing\/failing with chart \S+: postRenderers\[1\]: kustomize: no resource matches strategic merge patch "ConfigMap\.v1\.\[noGrp\]\/missing/,
  );
  assert.equal((await config("failing")).data?.["greeting"], "hello");
  assert.deepEqual(await releaseHistory(client, "failing"), ["1 deployed"]);
});

test("a change of a patch upgrades, what is equal does not, and removing all of them upgrades back", async () => {
  const patched = (text: string): Renderers => ({
    postRenderers: [{ patches: [{ patch: greeting(text) }] }],
  });
  await deployed("changed", {});
  await deployed("changed", patched("one"));
  await deployed("changed", { ...patched("one"), helm: { maxHistory: 3 } });
  await deployed("changed", patched("two"));
  assert.equal((await config("changed")).data?.["greeting"], "two");

  await deployed("changed", {});

  assert.equal((await config("changed")).data?.["greeting"], "hello");
  assert.deepEqual(await releaseHistory(client, "changed"), ["3 superseded", "4 deployed"]);
});

test("a chart without objects, and one whose objects are all removed, are installed", async () => {
  await deployed("nothing", { commonMetadata: { labels: { team: "a" } } }, empty);
  const patch = "$patch: delete\nkind: Any\nmetadata: {name: any}\n";
  await deployed("removed", { postRenderers: [{ patches: [{ patch, target: {} }] }] });

  assert.equal((await manifestOf("nothing")).trim(), "");
  assert.equal((await manifestOf("removed")).trim(), "");
});
