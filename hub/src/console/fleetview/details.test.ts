import assert from "node:assert/strict";
import type { BundleDeployment, HelmOp } from "@flotilla/shared/api";
import { helmOpLabel } from "@flotilla/shared/api/names";
import type { AppDetail } from "@flotilla/shared/dashboard";
import type { HelmRelease } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { aBundle, aCluster, aDeployment, aHelmOp, now, workspace } from "../../testing/index.ts";
import { FleetDetails } from "./details.ts";
import { createShownCaches } from "./testing/index.ts";

function setUp() {
  const caches = createShownCaches();
  return { ...caches, details: new FleetDetails({ ...caches, version: "0.3.0" }) };
}

describe("the releases of a cluster", () => {
  const { labels } = aDeployment("paris").metadata;
  const metadata = { labels: { ...labels, [helmOpLabel]: "web" } };
  const deleted = { ...metadata, deletionTimestamp: now };
  const rows: readonly (readonly [
    what: string,
    deployment: BundleDeployment,
    hasBundle: boolean,
    releases: readonly (readonly [app: string, uninstalling: boolean])[],
  ])[] = [
    ["have those of Bundles", aDeployment("paris", { metadata }), true, [["web", false]]],
    [
      "have one that its Bundle targets no more, until it is uninstalled",
      aDeployment("paris", { metadata: deleted }),
      true,
      [["web", true]],
    ],
    [
      "have one without its Bundle, until it is uninstalled",
      aDeployment("paris", { metadata: deleted }),
      false,
      [["web", true]],
    ],
    [
      "have none whose app is unknown",
      aDeployment("paris", { metadata: { ...deleted, labels: {} } }),
      false,
      [],
    ],
  ];
  test.each(rows)("%s", (_, deployment, hasBundle, releases) => {
    const { bundles, clusters, deployments, details } = setUp();
    clusters.saw(aCluster("paris"));
    deployments.saw(deployment);
    if (hasBundle) bundles.saw(aBundle());
    const shown = (sees: boolean) =>
      details.cluster(
        { namespace: workspace, name: "paris" },
        {
          sees({ kind, namespace }) {
            assert.deepEqual({ kind, namespace }, { kind: "HelmOp", namespace: workspace });
            return sees;
          },
          ...{ seesRollouts: () => true, seesSchedules: true, nowMs: Date.parse(now) },
        },
      );

    const found = shown(true)?.releases.map(({ app, uninstalling }) => [app.name, uninstalling]);
    assert.deepEqual(found, releases);
    const hidden = shown(false);
    assert.deepEqual([hidden?.releases, hidden?.hiddenReleases], [[], releases.length]);
  });
});

describe("the polling interval of a HelmOp", () => {
  const repo = "https://charts.example.com";
  const rows: readonly (readonly [what: string, helmOp: HelmOp, interval: string | undefined])[] = [
    ["is that of its spec", aHelmOp({ pollingInterval: "5m" }), "5m"],
    [
      "is absent with a static version, which is not polled",
      aHelmOp({ pollingInterval: "5m", helm: { repo, chart: "web", version: "1.2.3" } }),
      undefined,
    ],
    [
      "is absent while it is suspended",
      aHelmOp({ pollingInterval: "5m", suspend: true }),
      undefined,
    ],
  ];
  test.each(rows)("%s", (_, helmOp, interval) => {
    const { details, helmOps } = setUp();
    helmOps.saw(helmOp);

    const ref = { kind: "HelmOp", namespace: workspace, name: "web" } as const;
    assert.equal(details.app(ref)?.polling.interval, interval);
    assert.equal(details.isPolled(ref), interval !== undefined);
    assert.equal(details.isPolled({ ...ref, kind: "HelmRelease" }), false);
  });
});

test("a Bundle of an app is not an app itself", () => {
  const { details, bundles, helmOps } = setUp();
  const ref = { kind: "HelmOp", namespace: workspace, name: "web" } as const;
  const bundle = aBundle();
  const labels = { [helmOpLabel]: "web" };
  bundles.saw({ ...bundle, metadata: { ...bundle.metadata, labels } });
  helmOps.saw(aHelmOp());

  assert.equal(details.app({ ...ref, kind: "Bundle" }), undefined);
  assert.equal(details.app(ref)?.kind, "HelmOp");
});

test("a source is used by the HelmReleases that name it, as far as they may be seen", () => {
  const { details, helmReleases, sources } = setUp();
  const source = { namespace: "apps", name: "charts" };
  sources.HelmRepository.saw({ metadata: source });
  for (const name of ["web", "db", "other"])
    helmReleases.saw({
      metadata: { namespace: "apps", name },
      spec: {
        interval: "10m",
        chartRef: { kind: "OCIRepository", name },
        ...(name !== "other" && {
          chart: {
            spec: {
              chart: name,
              version: "",
              reconcileStrategy: "ChartVersion",
              sourceRef: { kind: "HelmRepository", name: source.name },
            },
          },
        }),
      },
    });

  const found = details.source("HelmRepository", source, ({ name }) => name !== "db");
  assert.deepEqual(found?.usedBy, [{ kind: "HelmRelease", namespace: "apps", name: "web" }]);
});

describe("the charts of a HelmRelease that is not resolved", () => {
  const sourceRef = { kind: "HelmRepository", name: "charts" } as const;
  const template = { chart: "web", sourceRef, reconcileStrategy: "ChartVersion" } as const;
  const rows: readonly (readonly [
    what: string,
    spec: Partial<NonNullable<HelmRelease["spec"]>>,
    charts: AppDetail["charts"],
  ])[] = [
    [
      "are that of its template",
      { chart: { spec: { ...template, version: "1.x" } } },
      [{ repo: "", chart: "web", constraint: "1.x" }],
    ],
    ["are none with a chartRef", { chartRef: { kind: "OCIRepository", name: "web" } }, []],
  ];
  test.each(rows)("%s", (_, spec, charts) => {
    const { details, helmReleases } = setUp();
    const ref = { kind: "HelmRelease", namespace: "apps", name: "web" } as const;
    helmReleases.saw({
      metadata: { namespace: ref.namespace, name: ref.name },
      spec: { interval: "10m", ...spec },
    });

    assert.deepEqual(details.app(ref)?.charts, charts);
  });
});

describe("an app", () => {
  const ref = { kind: "HelmOp", namespace: workspace, name: "web" } as const;
  const metadataOf = (cluster: string) => {
    const { labels } = aDeployment(cluster).metadata;
    return { labels: { ...labels, [helmOpLabel]: "web" } };
  };
  function withDeployments(
    statuses: Readonly<Record<string, BundleDeployment["status"]>>,
    requestedAt = "two",
  ) {
    const { bundles, clusters, deployments, details, helmOps } = setUp();
    helmOps.saw(aHelmOp());
    bundles.saw(aBundle({}, { labels: { [helmOpLabel]: "web" } }));
    for (const [name, status] of Object.entries(statuses)) {
      clusters.saw(aCluster(name));
      deployments.saw(
        aDeployment(name, { metadata: metadataOf(name), spec: { requestedAt }, status }),
      );
    }
    return details;
  }

  test("has what its clusters have answered to the last request, those with the same answer in one line", () => {
    const inSync = { lastRequest: { token: "two", result: "InSync" } };
    const details = withDeployments({
      ...{ lyon: inSync, paris: inSync },
      nice: { lastRequest: { token: "one", result: "InSync" } },
    });

    assert.deepEqual(details.app(ref)?.lastRequest, [
      `Clusters ${workspace}/lyon, ${workspace}/paris: nothing had to be done: the release is in sync`,
      `Cluster ${workspace}/nice: its agent is offline, and answers once it is connected again`,
    ]);
  });

  test("has no answer before there was a request", () => {
    assert.equal(withDeployments({ paris: {} }, "").app(ref)?.lastRequest, undefined);
  });

  test("has drift when one of its releases has", () => {
    const drifted = { nonModified: false };
    assert.equal(withDeployments({ paris: {}, lyon: drifted }).hasDrift(ref), true);
    assert.equal(withDeployments({ paris: {}, lyon: { nonModified: true } }).hasDrift(ref), false);
  });
});
