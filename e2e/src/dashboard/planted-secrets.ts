/**
 * Two apps whose rollouts are planned and approved, and whose values come from Secrets: one of the hub and one of each cluster. Their
 * chart puts the value into a Secret, the text of a ConfigMap, annotations and addresses.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { gates } from "@flotilla/shared/api/rollout";
import { endpoints } from "@flotilla/shared/dashboard";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import type { APIRequestContext } from "playwright-core";
import { containsAny, metricsOf, objectsContaining } from "../credentials/find-secrets.ts";
import { chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { secretTemplates } from "../plan/plan-charts.ts";
import { createRelease, createRepository, type DashboardFixtures } from "./dashboard-fleet.ts";

type Fixtures = Pick<DashboardFixtures, "fleet" | "charts">;

const login = "planted-login-Zq8x";
const inCluster = "planted-cluster-Kw3v";
const onHub = { before: "planted-before-Tf7m", after: "planted-after-Hb2n" } as const;
const texts = [login, inCluster, onHub.before, onHub.after];

/** The apps, by the kind that each is. */
export const plantedApps = { HelmOp: "planted", HelmRelease: "seeded" } as const;

const stages = [{ name: "all", before: [{ name: "board", approval: { plan: true } }] }];

/** The API server rejects the objects of version 3.0.0, in a sentence that has the value. */
async function plantedChart(version: string) {
  const rejected =
    "apiVersion: v1\nkind: Service\nmetadata: {name: rejected}\nspec: {clusterIP: {{ .Values.password | quote }}, ports: [{port: 80}]}\n";
  return await chartArchive({
    ...{ name: "planted", version },
    templates: { ...secretTemplates, ...(version === "3.0.0" && { "rejected.yaml": rejected }) },
  });
}

const encoded = (text: string) => Buffer.from(text).toString("base64");
const valuesData = (password: string) => ({ "values.yaml": encoded(`password: ${password}\n`) });

/** Version 1.0.0 of both apps waits for an approval then. */
export async function plantSecrets({ fleet, charts }: Fixtures): Promise<void> {
  const { hub, clusters } = fleet;
  for (const version of ["1.0.0", "2.0.0", "3.0.0"]) charts.publish(await plantedChart(version));
  const name = plantedApps.HelmOp;
  for (const { client } of clusters) {
    await client.create(namespaces, { metadata: { name } });
    await client.create(secrets, {
      metadata: { namespace: name, name: "planted-values" },
      data: valuesData(inCluster),
    });
  }
  await hub.create(secrets, {
    metadata: { namespace, name: "planted-login" },
    data: { username: encoded("shop"), password: encoded(login) },
  });
  await hub.create(secrets, {
    metadata: {
      ...{ namespace, name: "planted-values" },
      labels: { "reconcile.fluxcd.io/watch": "Enabled" },
    },
    data: valuesData(onHub.before),
  });
  await hub.create(helmOps, {
    metadata: { namespace, name },
    spec: {
      namespace: name,
      helmSecretName: "planted-login",
      helm: {
        ...{ repo: charts.url, chart: "planted", version: "1.0.0" },
        valuesFrom: [{ secretKeyRef: { name: "planted-values", namespace: name } }],
      },
      targets: [{ clusterSelector: {} }],
      rolloutStrategy: { stages },
    },
  });
  const { HelmRelease: seeded } = plantedApps;
  await createRepository(hub, seeded, { url: charts.url });
  await createRelease(hub, seeded, {
    chart: {
      spec: {
        ...{ chart: "planted", version: "1.0.0" },
        ...{
          sourceRef: { kind: "HelmRepository", name: seeded },
          reconcileStrategy: "ChartVersion",
        },
      },
    },
    ...{ targetNamespace: seeded, storageNamespace: seeded, install: { createNamespace: true } },
    valuesFrom: [{ kind: "Secret", name: "planted-values" }],
    targets: [{ clusterSelector: {} }],
    rolloutStrategy: { stages },
  });
}

/** Another version of the HelmOp, and another password of the HelmRelease. */
export async function changePlanted(hub: ClusterClient): Promise<void> {
  await upgradePlanted(hub, "2.0.0");
  const ref = { namespace, name: "planted-values" };
  await hub.patch(secrets, ref, { type: "merge", body: { data: valuesData(onHub.after) } });
}

export async function upgradePlanted(hub: ClusterClient, version: string): Promise<void> {
  const ref = { namespace, name: plantedApps.HelmOp };
  await hub.patch(helmOps, ref, { type: "merge", body: { spec: { helm: { version } } } });
}

/** Every answer of the API about the apps, to a user who may see all of it. */
async function answersAbout(
  request: APIRequestContext,
  { address, fleet }: Pick<DashboardFixtures, "address" | "fleet">,
): Promise<readonly (readonly [path: string, text: string])[]> {
  const paths: string[] = [endpoints.fleet.path];
  const gateNames = (await fleet.hub.reader.list(gates, { namespace })).map(
    ({ spec, metadata }) => [spec.app.name, metadata.name] as const,
  );
  for (const [kind, name] of Object.entries(plantedApps)) {
    const app = `/api/v1/apps/${kind}/${namespace}/${name}`;
    paths.push(app, ...["targets", "history", "rollouts"].map((part) => `${app}/${part}`));
    for (const [of, gate] of gateNames) if (of === name) paths.push(`${app}/gates/${gate}/plan`);
    for (const { name: cluster } of fleet.clusters) {
      const at = `/api/v1/clusters/${namespace}/${cluster}`;
      const release = `${at}/releases/${kind}/${namespace}/${name}`;
      // A diff shows the texts of ConfigMaps as they are, and is not asked for.
      const asked = ["resources", "events", "values", "history"];
      paths.push(at, release, ...asked.map((what) => `${release}/${what}`));
    }
  }
  const answers: (readonly [path: string, text: string])[] = [];
  for (const path of paths) {
    const answer = await request.get(`${address}${path}`);
    const text = await answer.text();
    assert.ok(answer.ok(), `${path}: ${text}`);
    answers.push([path, text]);
  }
  return answers;
}

export function assertWithoutSecrets(what: string, text: string): void {
  assert.ok(text.length > 0, what);
  const found = texts.filter((secret) => containsAny(text, [secret]));
  assert.deepEqual(found, [], what);
}

/** The logs and the metrics of all processes, by what they are. */
async function logsAndMetrics({
  fleet: { replicas, clusters },
}: Pick<Fixtures, "fleet">): Promise<readonly (readonly [what: string, text: string])[]> {
  const processes = [
    ...replicas.map((replica) => ({ file: replica.logFile, running: replica.process() })),
    ...clusters.map((cluster) => ({ file: cluster.agentLog, running: cluster.agent() })),
  ];
  return await Promise.all(
    processes.flatMap(({ file, running }) => [
      readFile(file, "utf8").then((text) => [file, text] as const),
      metricsOf(running.identity.pid).then((text) => [`metrics of ${file}`, text] as const),
    ]),
  );
}

/** The objects that have one of the values by what they are for. */
const places = {
  hub: [
    "Secret fleet-default/planted-login",
    "Secret fleet-default/planted-values",
    // With the values of the HelmRelease.
    "Secret flotilla-system/content-DIGEST",
  ],
  cluster: [
    // Where the chart has put them.
    ...["ConfigMap planted/settings", "ConfigMap seeded/settings"],
    "Secret flotilla-agent/assignment-helmrelease-seeded",
    "Secret flotilla-agent/referenced-secret-planted-login",
    ...["Secret planted/login", "Secret planted/planted-values"],
    "Secret planted/sh.helm.release.v1.planted.vN",
    "Secret seeded/login",
    "Secret seeded/sh.helm.release.v1.seeded.vN",
  ],
} as const;

/** Only where they belong: in these objects, and in no answer, log and metric. */
export async function assertWithoutLeak(
  request: APIRequestContext,
  dashboard: Pick<DashboardFixtures, "address" | "fleet">,
): Promise<void> {
  for (const [path, text] of await answersAbout(request, dashboard))
    assertWithoutSecrets(path, text);
  for (const [what, text] of await logsAndMetrics(dashboard)) assertWithoutSecrets(what, text);
  const { hub, clusters } = dashboard.fleet;
  assert.deepEqual(await namesIn(hub), places.hub);
  for (const { client } of clusters) assert.deepEqual(await namesIn(client), places.cluster);
}

/** Without digests and numbers of revisions. */
async function namesIn(client: ClusterClient): Promise<readonly string[]> {
  const names = (await objectsContaining(client, texts)).map((name) =>
    name.replace(/-[0-9a-f]{64}$/, "-DIGEST").replace(/\.v\d+$/, ".vN"),
  );
  return [...new Set(names)];
}
