/**
 * Charts as people write them: each was reported by users of Helm, Fleet or Flux, and is installed as a HelmOp and as a HelmRelease,
 * unchanged. All share a fleet and are installed at the same time.
 */
import assert from "node:assert/strict";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startTestRegistry } from "@flotilla/local/testing";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  type KubeObject,
  namespaces,
  type Resource,
} from "@flotilla/shared/kube/objects";
import type { FleetPlan } from "@flotilla/shared/plan";
import { afterAll, beforeAll, test, vi } from "vitest";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { hangMs } from "../harness/hang.ts";
import { programFor } from "../harness/program.ts";
import { pushChartIndex } from "../harness/push-artifact.ts";
import { waitForObject } from "../harness/wait.ts";
import { allObjectsOf } from "../plan/all-objects.ts";
import {
  changesBetween,
  helmObjects,
  plannedIn,
  resourceVersionsOf,
  settledVersions,
} from "../plan/changed-objects.ts";
import { readWildCases, type WildCase, type WildKind, wildKinds } from "./read-case.ts";
import { wildUpgrades } from "./wild-upgrades.ts";

/** What the users of the case expect of it; `kind` has been applied. */
type Expectation = (release: WildRelease) => Promise<void>;

/** One case as one kind. Its release and the namespace of that have one name. */
interface WildRelease {
  readonly name: string;
  readonly kind: WildKind;
  /** Applies the second step of the case. */
  change(): Promise<void>;
  /** Waits until the field of an object of the member cluster, in the namespace of the release, has this value. */
  shows(
    resource: Resource<KubeObject>,
    object: string,
    path: readonly (string | number)[],
    expected: string | number | RegExp,
  ): Promise<void>;
  /** As a user of the member cluster, in the namespace of the release. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** The same on the hub, in the workspace. */
  hubKubectl(...args: readonly string[]): Promise<string>;
}

const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}], names: ["one"] });
const registry = await startTestRegistry({ onTestFinished: afterAll });
const cases = await readWildCases();
const { kubectl } = await ensureBinaries(["kubectl"]);
const onHub = programFor(kubectl, fleet.hubPlane.kubeconfig);
const onMember = programFor(kubectl, cluster.plane.kubeconfig);

const jobs: Resource<KubeObject> = {
  ...{ group: "batch", version: "v1", kind: "Job", plural: "jobs" },
  namespaced: true,
};
const registries = {
  "18-oci-image-index": { registry: registry.url, repository: "charts/pc18" },
};
/** In the order in which they are planned. */
const releases = wildKinds.flatMap((kind) =>
  cases.map((of) => ({ name: releaseName(of, kind), kind, of })),
);
const upgrades = wildUpgrades({ fleet, charts, registries, upgrades: releases });
const container = ["spec", "template", "spec", "containers", 0];

const expectations: Readonly<Record<string, Expectation>> = {
  async "01-folded-text-grows"(release) {
    const { name, shows } = release;
    const expr = "sum(rate(requests_total[5m]))\n  by (job)\n> 10\n";
    await shows(configMaps, `${name}-rules`, ["data", "expr"], expr);
    const note = "Steps:\n  - stop\n  - start\nthen check";
    await shows(configMaps, `${name}-rules`, ["data", "note"], note);
    await isReady(release);
  },
  async "02-list-with-anchor"(release) {
    for (const item of ["one", "two"])
      await release.shows(configMaps, `${release.name}-${item}`, ["data", "colour"], "green");
    await isReady(release);
  },
  async "05-duplicate-label-key"(release) {
    await release.shows(configMaps, `${release.name}-cm`, ["metadata", "labels", "tier"], "back");
    await isReady(release);
  },
  async "07-duplicate-env"(release) {
    await isReady(release);
    const values = "jsonpath={.spec.template.spec.containers[0].env[*].value}";
    const shown = await release.kubectl("get", "deployment", `${release.name}-web`, "-o", values);
    assert.match(shown, / custom$/);
    assert.match(
      await released(release),
      /applied client-side, .* refuses \S+\.env of Deployment /,
    );
  },
  async "09-unknown-field"(release) {
    await isReady(release);
    const { name, shows } = release;
    await shows(deployments, `${name}-web`, [...container, "image"], "example.com/web:1");
    assert.match(await released(release), /applied client-side, .* of Deployment /);
  },
  async "13-drift-not-compared"(release) {
    await isReady(release);
    const web = `${release.name}-web`;
    await release.kubectl("set", "image", `deployment/${web}`, "web=example.com/evil:1");
    await release.shows(deployments, web, [...container, "image"], "example.com/web:1");
  },
  async "14-null-replicas"(release) {
    await isReady(release);
    const web = `${release.name}-web`;
    await release.kubectl("scale", `deployment/${web}`, "--replicas=3");
    // The correction of another field shows that the object was compared since.
    await release.kubectl("set", "image", `deployment/${web}`, "web=example.com/evil:1");
    await release.shows(deployments, web, [...container, "image"], "example.com/web:1");
    await release.shows(deployments, web, ["spec", "replicas"], 3);
    // The hub hears of the correction after the cluster has it.
    await vi.waitFor(
      async () => assert.notEqual(await conditionOf(release, "Drifted", "status"), "True"),
      { timeout: hangMs, interval: 500 },
    );
  },
  async "17-crd-policy-and-capabilities"(release) {
    await isReady(release);
    const { name, shows } = release;
    await shows(configMaps, `${name}-cm`, ["data", "version"], "1.0.0");
    const definition = "pcgadgets.tools.example.com";
    await shows(customResourceDefinitions, definition, ["metadata", "name"], definition);
  },
  async "18-oci-image-index"(release) {
    // As in Flux, the version of an OCIRepository's chart has its digest, too.
    const version = release.kind === "HelmOp" ? "1.0.0" : /^1\.0\.0\+[0-9a-f]{12}$/;
    await release.shows(configMaps, `${release.name}-cm`, ["data", "version"], version);
    await isReady(release);
  },
  async "19-chart-with-its-namespace"(release) {
    await isReady(release);
    const { name, shows } = release;
    await shows(configMaps, `${name}-cm`, ["data", "version"], "1.0.0");
    await shows(namespaces, name, ["metadata", "labels", "example.com/from-chart"], "yes");
  },
  async "21-force-does-not-replace"(release) {
    const job = `${release.name}-once`;
    await release.shows(jobs, job, [...container, "image"], "example.com/once:1");
    await isReady(release);
    await release.change();
    await release.shows(jobs, job, [...container, "image"], "example.com/once:2");
    await isReady(release);
  },
};

beforeAll(async () => {
  for (const { chart, clusterObjects } of cases) {
    charts.publish(chart);
    if (clusterObjects !== undefined) await succeed(onMember, ["apply", "-f", "-"], clusterObjects);
  }
  const indexed = cases.find(({ name }) => name === "18-oci-image-index");
  assert.ok(indexed !== undefined);
  await pushChartIndex(registries["18-oci-image-index"], indexed.chart);
  await upgrades.publish();
  for (const each of cases) for (const kind of wildKinds) await apply(each, kind);
});

test("there is a chart for each expectation", () => {
  assert.deepEqual(
    cases.map(({ name }) => name),
    Object.keys(expectations).toSorted(),
  );
});

for (const each of cases)
  for (const kind of wildKinds)
    test.concurrent(`${each.name} is installed as its users expect, by a ${kind}`, async () => {
      await expectations[each.name]?.(releaseOf(each, kind));
    });

// After the others, of whose releases it makes other versions.
test("a plan of each upgrade names what the upgrade that follows changes, and nothing else, and changes nothing", async () => {
  const read = allObjectsOf(cluster.client);
  await upgrades.hold();
  const versions = await settledVersions(read);
  const before = await read();

  const planned = new Map<string, readonly string[]>();
  for (const release of releases)
    planned.set(release.name, plannedChanges(await upgrades.plan(release)));

  assert.deepEqual(resourceVersionsOf(await read()), versions);
  // A person has scaled it. A HelmRelease takes the field, as in Flux.
  const scaled = "pc14-op";
  assert.deepEqual(planned.get(scaled), [
    `Deployment ${scaled}/${scaled}-web: fails: spec.replicas: managed by "kubectl", and Helm does not take fields from other managers`,
  ]);
  await upgrades.letGo([scaled]);
  const after = await read();
  const changed = new Map(
    releases.map(({ name }) => [
      name,
      changesBetween(helmObjects(before, name), helmObjects(after, name)),
    ]),
  );
  assert.deepEqual(planned, changed.set(scaled, planned.get(scaled) ?? []));
  // The same templates change what has the version of the chart in it.
  const unchanged = releases.filter(({ name }) => changed.get(name)?.length === 0);
  assert.deepEqual(
    unchanged.map(({ name }) => name),
    ["01", "02", "05", "07", "09", "13"].map((number) => `pc${number}-op`),
  );
});

/** What the one cluster is said to get. */
function plannedChanges({ groups, unchanged, unknown }: FleetPlan): readonly string[] {
  assert.deepEqual(unknown, []);
  const [group] = groups;
  if (group === undefined) {
    assert.equal(unchanged.count, 1);
    return [];
  }
  if (group.result === "fails")
    return [...(group.text ?? "").matchAll(/^# (.+: fails: .+)$/gm)].map(([, why = ""]) => why);
  assert.equal(group.result, "changes");
  // A definition of two releases has the name of the last one that was upgraded.
  return plannedIn(group.text ?? "").filter(
    (each) => !each.startsWith("CustomResourceDefinition "),
  );
}

function releaseName({ name }: WildCase, kind: WildKind): string {
  return `pc${name.slice(0, 2)}-${kind === "HelmOp" ? "op" : "hr"}`;
}

async function apply(each: WildCase, kind: WildKind, step?: 1 | 2): Promise<void> {
  const name = releaseName(each, kind);
  const documents = await each.documents(
    kind,
    {
      ...{ NAME: name, NS: name, WORKSPACE: workspaceNamespace, CLUSTER: cluster.name },
      ...{ REPO: charts.url, OCI: `${registry.oci}/charts/pc18` },
    },
    step,
  );
  await succeed(onHub, ["apply", "-f", "-"], documents);
}

function releaseOf(each: WildCase, kind: WildKind): WildRelease {
  const name = releaseName(each, kind);
  const kubectl: WildRelease["kubectl"] = (...args) =>
    succeed(onMember, [...args, `--namespace=${name}`]);
  const hubKubectl: WildRelease["hubKubectl"] = (...args) =>
    succeed(onHub, [...args, `--namespace=${workspaceNamespace}`]);
  return {
    name,
    kind,
    change: () => apply(each, kind, 2),
    async shows(resource, object, path, expected) {
      const ref = { name: object, ...(resource.namespaced && { namespace: name }) };
      await waitForObject(
        cluster.client,
        resource,
        ref,
        `with ${path.join(".")} ${String(expected)}`,
        (found) => {
          const value = valueAt(found, path);
          return expected instanceof RegExp ? expected.test(String(value)) : value === expected;
        },
      );
    },
    kubectl,
    hubKubectl,
  };
}

async function isReady({ name, kind, hubKubectl }: WildRelease): Promise<void> {
  await hubKubectl(
    "wait",
    `${kind.toLowerCase()}/${name}`,
    "--for=condition=Ready",
    "--timeout=60s",
  );
}

/** The condition of the release in the member cluster, by its BundleDeployment. */
async function conditionOf(
  { name }: WildRelease,
  type: string,
  field: "status" | "message",
): Promise<string> {
  const range = `{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="${type}")].${field}}{"\\n"}{end}`;
  const all = await succeed(onHub, [
    ...["get", "bundledeployments", "--all-namespaces", `--output=jsonpath=${range}`],
  ]);
  const own = all.split("\n").filter((line) => line.split(" ")[0]?.includes(name));
  assert.equal(own.length, 1, all);
  return own[0]?.slice(own[0].indexOf(" ") + 1) ?? "";
}

function released(release: WildRelease): Promise<string> {
  return conditionOf(release, "Released", "message");
}

function valueAt(object: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== "object" || value === null) return undefined;
    return Object.entries(value).find(([name]) => name === String(key))?.[1];
  }, object);
}

async function succeed(
  program: typeof onHub,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const { code, stdout, stderr } = await program(args, input);
  assert.equal(code, 0, stderr);
  return stdout;
}
