/** Alerts of each kind of Flux's sources, the status of a commit, and what kubectl shows. Each test continues from the one before. */
import assert from "node:assert/strict";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startTestBucketServer, startTestRegistry } from "@flotilla/local/testing";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmRepositories,
  ociRepositories,
  receivers,
} from "@flotilla/shared/flux";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { programFor } from "../harness/program.ts";
import { pushChart } from "../harness/push-chart.ts";
import { chartFiles, gitChart, startGitFleet } from "../helmrelease/git-fleet.ts";
import { createAlerts } from "./alerts.ts";
import { type ReceivedEvent, startSink } from "./sink.ts";

const scope = { onTestFinished: afterAll };
const [git, registry, storage, sink] = await Promise.all([
  startGitFleet(),
  startTestRegistry(scope),
  startTestBucketServer(scope),
  startSink(),
]);
afterAll(() => sink.close());
const { charts, fleet, hub } = git;
const alerts = createAlerts(hub);
const namespace = "team";
const refOf = (name: string) => ({ namespace, name });
charts.publish(await configChart("app", "1.0.0"));
await pushChart(fleet.helm, await configChart("app", "1.0.0"), `oci://${registry.host}`);
await storage.createBucket("charts");
await storage.put("charts", "app/Chart.yaml", "version: 1.0.0");
const repository = await git.repository("app");
await repository.commit(chartFiles("app", "1.0.0"));
await git.createGitNamespace(namespace);
await git.createSecret(refOf("bucket"), {
  accesskey: storage.keys.accessKey,
  secretkey: storage.keys.secretKey,
});
await alerts.provider(namespace, "sources", { type: "generic", address: `${sink.url}/sources` });
await alerts.alert(namespace, "sources", {
  eventSources: (
    ["HelmRepository", "HelmChart", "OCIRepository", "GitRepository", "Bucket"] as const
  ).map((kind) => ({ kind, name: "*" })),
});

interface SourceCase {
  readonly resource: Resource<KubeObject>;
  readonly name: string;
  /** The reason of the events of a new revision. */
  readonly reason?: string;
  create(): Promise<unknown>;
  /** Makes another revision. */
  publish(): Promise<unknown>;
  fail(): Promise<unknown>;
  recover(): Promise<unknown>;
}

const apiVersion = "source.toolkit.fluxcd.io/v1";

/** `spec`: a merge patch of it. */
async function patch(resource: Resource<KubeObject>, name: string, spec: object): Promise<void> {
  await hub.patch(resource, refOf(name), { type: "merge", body: { spec } });
}

let requests = 0;

/** As `flux reconcile source`, without the wait. */
async function request(resource: Resource<KubeObject>, name: string): Promise<void> {
  requests += 1;
  const annotations = { [reconcileRequestAnnotation]: `request-${requests}` };
  await hub.patch(resource, refOf(name), { type: "merge", body: { metadata: { annotations } } });
}

const cases: readonly SourceCase[] = [
  {
    resource: helmRepositories,
    name: "index",
    create: () => git.createRepository(refOf("index")),
    async publish() {
      charts.publish(await configChart("app", "1.1.0"));
      await request(helmRepositories, "index");
    },
    async fail() {
      charts.failWith(503);
      await request(helmRepositories, "index");
    },
    async recover() {
      charts.recover();
      await request(helmRepositories, "index");
    },
  },
  {
    resource: helmCharts,
    name: "chart",
    reason: "ChartPullSucceeded",
    create: () =>
      hub.create(helmCharts, {
        ...{ apiVersion, kind: "HelmChart", metadata: refOf("chart") },
        spec: {
          ...{ chart: "app", version: "1.x", interval: "1h", reconcileStrategy: "ChartVersion" },
          sourceRef: { kind: "HelmRepository", name: "index" },
        },
      }),
    async publish() {
      charts.publish(await configChart("app", "1.2.0"));
      await request(helmRepositories, "index");
    },
    fail: () => patch(helmCharts, "chart", { version: "9.x" }),
    recover: () => patch(helmCharts, "chart", { version: "1.x" }),
  },
  {
    resource: ociRepositories,
    name: "artifact",
    create: () =>
      hub.create(ociRepositories, {
        ...{ apiVersion, kind: "OCIRepository", metadata: refOf("artifact") },
        spec: {
          ...{ url: `oci://${registry.host}/app`, interval: "1h", timeout: "60s", insecure: true },
          ...{ provider: "generic", ref: { semver: "1.x" } },
        },
      }),
    async publish() {
      await pushChart(fleet.helm, await configChart("app", "1.1.0"), `oci://${registry.host}`);
      await request(ociRepositories, "artifact");
    },
    fail: () => patch(ociRepositories, "artifact", { ref: { semver: "9.x" } }),
    recover: () => patch(ociRepositories, "artifact", { ref: { semver: "1.x" } }),
  },
  {
    resource: gitRepositories,
    name: "app",
    create: () => git.createGit(refOf("app")),
    async publish() {
      await repository.commit(chartFiles("app", "1.1.0"));
      await request(gitRepositories, "app");
    },
    fail: () => patch(gitRepositories, "app", { ref: { branch: "gone" } }),
    recover: () => patch(gitRepositories, "app", { ref: { branch: "main" } }),
  },
  {
    resource: buckets,
    name: "storage",
    create: () =>
      hub.create(buckets, {
        ...{ apiVersion, kind: "Bucket", metadata: refOf("storage") },
        spec: {
          ...{ endpoint: storage.endpoint, bucketName: "charts", insecure: true },
          ...{ interval: "1h", timeout: "60s", provider: "generic", secretRef: { name: "bucket" } },
        },
      }),
    async publish() {
      await storage.put("charts", "app/Chart.yaml", "version: 1.1.0");
      await request(buckets, "storage");
    },
    fail: () => patch(buckets, "storage", { bucketName: "missing" }),
    recover: () => patch(buckets, "storage", { bucketName: "charts" }),
  },
];

for (const { resource, name, reason = "NewArtifact", ...source } of cases)
  test(`${resource.kind}: a new revision, a failure and a recovery are events`, async () => {
    const seen: ReceivedEvent[] = [];
    const next = async (what: string, isIt: (event: ReceivedEvent) => boolean) => {
      const { event } = await sink.wait(
        "/sources",
        `${what} of ${resource.kind} ${name}`,
        (each) =>
          each.involvedObject.kind === resource.kind &&
          each.involvedObject.name === name &&
          !seen.includes(each) &&
          isIt(each),
      );
      seen.push(event);
      return event;
    };

    await source.create();
    const first = await next("the first revision", (event) => event.reason === reason);
    await source.publish();
    const second = await next("the second revision", (event) => event.reason === reason);
    await source.fail();
    const failure = await next("the failure", ({ severity }) => severity === "error");
    await source.recover();
    const recovery = await next("the recovery", (event) => event.reason === "Succeeded");

    const revisions = [first, second, recovery].map(({ metadata }) => metadata?.["revision"]);
    assert.ok(revisions.every((revision) => revision !== undefined));
    assert.notEqual(revisions[0], revisions[1]);
    assert.equal(revisions[2], revisions[1]);
    assert.notEqual(failure.message, "");
    assert.match(recovery.message, /^recovered from a failure; /);
  });

test("the commit that the chart of a HelmRelease is from has its failure and its success as status in GitHub, GitLab and Gitea", async () => {
  for (const type of ["github", "gitlab", "gitea"] as const) {
    await alerts.provider(
      namespace,
      type,
      { type, address: `${sink.url}/org/repo` },
      { token: "t" },
    );
    await alerts.alert(namespace, type, { eventSources: [{ kind: "HelmRelease", name: "*" }] });
  }
  const shop = await git.repository("shop");
  const broken = "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: []}\n";
  const bad = await shop.commit(chartFiles("chart", "1.0.0", { "templates/bad.yaml": broken }));
  await git.createGit(refOf("shop"));
  await git.create(refOf("shop"), gitChart("shop", "./chart"));

  await waitForStatuses(bad, "failure");
  const good = await shop.commit({
    ...chartFiles("chart", "1.1.0"),
    "chart/templates/bad.yaml": undefined,
  });
  await git.reconcileGit(refOf("shop"));
  await git.ready(refOf("shop"), "1.1.0");
  await waitForStatuses(good, "success");
});

test("kubectl waits for the condition ready of each kind that has one, and shows Flux's columns filled", async () => {
  const { kubectl: binary } = await ensureBinaries(["kubectl"]);
  const kubectl = programFor(binary, fleet.hubPlane.kubeconfig);
  await hub.create(receivers, {
    metadata: refOf("hook"),
    spec: {
      ...{ type: "generic", interval: "10m", secretRef: { name: "github" } },
      resources: [{ kind: "GitRepository", name: "shop" }],
    },
  });

  for (const [object, ...columns] of [
    ["helmrepo/index", charts.url, "<age>", "True", "stored artifact"],
    ["hc/chart", "app", "1.x", "HelmRepository", "index", "<age>", "True", "pulled 'app'"],
    ["ocirepo/artifact", `oci://${registry.host}/app`, "True", "stored artifact", "<age>"],
    ["gitrepo/app", git.https.url("app.git"), "<age>", "True", "stored artifact"],
    ["bucket/storage", storage.endpoint, "<age>", "True", "stored artifact"],
    ["hr/shop", "<age>", "True", "Helm upgrade succeeded"],
    ["receiver/hook", "<age>", "True", "Receiver initialized for path: /hook/"],
    ["alert/sources", "<age>"],
    ["provider/sources", "<age>"],
  ] as const) {
    const [, name = ""] = object.split("/");
    if (columns.length > 1) {
      const waited = await kubectl([
        ...["wait", "--for=condition=ready", object, `--namespace=${namespace}`, "--timeout=60s"],
      ]);
      assert.equal(waited.code, 0, waited.stderr);
    }
    const { stdout } = await kubectl([
      ...["get", object, `--namespace=${namespace}`, "--no-headers"],
    ]);
    const cells = stdout.trim().split(/ {2,}/);
    for (const [index, expected] of [name, ...columns].entries())
      if (expected === "<age>") assert.match(cells[index] ?? "", /^(\d+[smh])+$/, stdout);
      else assert.ok(cells[index]?.startsWith(expected), `${expected} in ${stdout}`);
  }
});

async function waitForStatuses(commit: string, state: "failure" | "success"): Promise<void> {
  for (const [path, expected] of [
    [`/api/v3/repos/org/repo/statuses/${commit}`, state],
    [`/api/v4/projects/org%2Frepo/statuses/${commit}`, state === "failure" ? "failed" : state],
    [`/api/v1/repos/org/repo/statuses/${commit}`, state],
  ] as const) {
    const { text } = await sink.wait(path, `${state} of ${commit}`, () => true);
    const status: unknown = JSON.parse(text);
    assert.ok(typeof status === "object" && status !== null && "state" in status);
    assert.equal(status.state, expected, path);
  }
}
