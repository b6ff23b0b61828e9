import assert from "node:assert/strict";
import type { Bundle, Cluster } from "@flotilla/shared/api";
import { helmOpLabel } from "@flotilla/shared/api/names";
import type { Change } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { aBundle, aCluster, aDeployment, aHelmOp, workspace } from "../../testing/index.ts";
import { FleetView } from "./fleet-view.ts";
import { createShownCaches } from "./testing/index.ts";

const all = { key: "all", sees: () => true };
const clustersOnly = { key: "clusters", sees: (kind: string) => kind === "Cluster" };
const app = { kind: "HelmOp", namespace: workspace, name: "web" } as const;
const paris = `${workspace}/paris`;

function setUp() {
  const caches = createShownCaches();
  return { ...caches, view: new FleetView(caches) };
}

/** It is not ready, so it is Offline while its cluster is. */
const deployment = aDeployment("paris", {
  metadata: { labels: { ...aDeployment("paris").metadata.labels, [helmOpLabel]: app.name } },
  status: { appliedDeploymentID: aDeployment("paris").spec.deploymentID, version: "1.0.0" },
});
const namespace = deployment.metadata.namespace ?? "";
const connected = aCluster("paris", {
  metadata: { resourceVersion: "1" },
  status: { namespace, agent: { epoch: 1, connected: true } },
});
const key = `${deployment.metadata.namespace}/${deployment.metadata.name}`;
const notReady = { state: "NotReady", version: "1.0.0" } as const;
const none = { state: null, version: "" } as const;
const release = (fields: Partial<Change>) => ({ type: "release", app, cluster: paris, ...fields });

describe("viewers of a release", () => {
  const rows: readonly (readonly [
    what: string,
    before: (given: ReturnType<typeof setUp>) => void,
    change: (given: ReturnType<typeof setUp>) => void,
    expected: typeof notReady | typeof none,
  ])[] = [
    [
      "get it with its deployment",
      ({ bundles }) => bundles.saw(aBundle()),
      ({ deployments }) => deployments.saw(deployment),
      notReady,
    ],
    [
      "get it with its Bundle when that arrives later",
      ({ deployments }) => deployments.saw(deployment),
      ({ bundles }) => bundles.saw(aBundle()),
      notReady,
    ],
    [
      "get its removal when its deployment is deleted",
      ({ bundles, deployments }) => {
        bundles.saw(aBundle());
        deployments.saw(deployment);
      },
      ({ deployments }) => deployments.missed(key),
      none,
    ],
    [
      "get its removal when its deployment is deleted before its Bundle",
      ({ bundles, deployments }) => {
        bundles.saw(aBundle());
        deployments.saw(deployment);
      },
      ({ bundles, deployments }) => {
        deployments.missed(key);
        bundles.missed(`${workspace}/web`);
      },
      none,
    ],
    [
      "get its removal when its Bundle is deleted while the uninstall is pending",
      ({ bundles, deployments }) => {
        bundles.saw(aBundle());
        deployments.saw(deployment);
      },
      ({ bundles }) => bundles.missed(`${workspace}/web`),
      none,
    ],
    [
      "get its removal when its cluster is deleted, however long its deployment is there after it",
      ({ bundles, deployments }) => {
        bundles.saw(aBundle());
        deployments.saw(deployment);
      },
      ({ clusters }) => clusters.missed(paris),
      none,
    ],
    [
      "get it when its cluster gets the namespace in which its deployment is",
      ({ bundles, clusters, deployments }) => {
        clusters.missed(paris);
        bundles.saw(aBundle());
        deployments.saw(deployment);
      },
      ({ clusters }) => {
        clusters.saw({ ...connected, status: { agent: { epoch: 1, connected: true } } });
        clusters.saw({ ...connected, metadata: { ...connected.metadata, resourceVersion: "2" } });
      },
      notReady,
    ],
    [
      "get a change when an uninstall without its Bundle is complete",
      ({ deployments }) => deployments.saw(deployment),
      ({ deployments }) => deployments.missed(key),
      none,
    ],
  ];
  test.each(rows)("%s", (_, before, change, expected) => {
    const given = setUp();
    given.clusters.saw(connected);
    before(given);
    const { position } = given.view;
    change(given);

    const changes = given.view.changesSince(position, all) ?? [];
    const releases = changes.filter(({ type }) => type === "release");
    assert.deepEqual(releases, [release(expected)]);
    const seen = given.view.changesSince(position, clustersOnly) ?? [];
    const ofCluster = ["cluster", "removed"];
    assert.deepEqual(
      seen.filter(({ type }) => !ofCluster.includes(type)),
      [],
    );
  });

  test("have it in no row of the fleet without its Bundle", () => {
    const { bundles, clusters, deployments, view } = setUp();
    clusters.saw(connected);
    deployments.saw(deployment);
    assert.deepEqual(view.fleet(all).rows, []);
    bundles.saw(aBundle());
    assert.equal(view.fleet(all).rows[0]?.states, "n");
  });

  test("have it in no row of the fleet without its cluster", () => {
    const { bundles, clusters, deployments, view } = setUp();
    clusters.saw(connected);
    bundles.saw(aBundle());
    deployments.saw(deployment);
    clusters.missed(paris);
    assert.deepEqual([view.fleet(all).rows, view.fleet(all).columns], [[], []]);
  });
});

describe("a release of an offline cluster is Offline", () => {
  const offline = aCluster("paris", {
    metadata: { resourceVersion: "2" },
    status: { namespace, agent: { epoch: 1 } },
  });
  const rows: readonly (readonly [string, readonly ("deployment" | Cluster)[]])[] = [
    ["when its cluster arrives first", [offline, "deployment"]],
    ["when its cluster arrives later", ["deployment", offline]],
    ["when its cluster goes offline", [connected, "deployment", offline]],
  ];
  test.each(rows)("%s", (_, arrivals) => {
    const { bundles, clusters, deployments, view } = setUp();
    bundles.saw(aBundle());
    const { position } = view;
    for (const arrival of arrivals)
      if (arrival === "deployment") deployments.saw(deployment);
      else clusters.saw(arrival);

    const changes = view.changesSince(position, all) ?? [];
    assert.deepEqual(
      changes.filter(({ type }) => type === "release"),
      [{ ...release({}), state: "Offline", version: "1.0.0" }],
    );
  });
});

describe("an app that depends on others", () => {
  const labels = { [helmOpLabel]: app.name };
  const selector = { matchLabels: { tier: "base" } };
  const dependsOn = [{ name: "base" }, { selector }];
  const db: Bundle = {
    metadata: { namespace: workspace, name: "db", labels: { tier: "base" } },
    spec: {},
  };

  test("says which of them the reader may not see", () => {
    const { helmOps, view } = setUp();
    helmOps.saw(aHelmOp({ dependsOn: [{ name: "base" }, { name: "helmrelease-db" }] }));
    const helmOpsOnly = { key: "helmOps", sees: (kind: string) => kind === "HelmOp" };

    const [seen] = view.fleet(helmOpsOnly).apps;
    assert.deepEqual(seen?.waitsFor, [
      { kind: "HelmOp", namespace: workspace, name: "base" },
      { kind: "HelmRelease", namespace: workspace, name: "db", hidden: true },
    ]);
    assert.ok(view.fleet(all).apps[0]?.waitsFor?.every(({ hidden }) => hidden === undefined));
  });

  test("has the selectors that no Bundle matches, until one does", () => {
    const { helmOps, bundles, view } = setUp();
    helmOps.saw(aHelmOp({ dependsOn }));
    bundles.saw({ ...aBundle({ dependsOn }), metadata: { ...aBundle().metadata, labels } });
    assert.deepEqual(view.fleet(all).apps[0]?.unmatched, ["tier=base"]);

    const { position } = view;
    bundles.saw(db);
    const changes = view.changesSince(position, all) ?? [];
    const own = changes.flatMap((change) =>
      change.type === "app" && change.app.name === "web" ? [change.app] : [],
    );
    assert.deepEqual(
      own.map(({ unmatched }) => unmatched),
      [undefined],
    );
  });
});

test("an app whose values cannot be made has the objects that they are read from", () => {
  const { helmOps, bundles, deployments, view } = setUp();
  const helm = { valuesFrom: [{ secretKeyRef: { name: "login", namespace: "apps" } }] };
  const { metadata } = aBundle();
  const summary = { ready: 0, desiredReady: 1, errApplied: 1 };
  helmOps.saw({ ...aHelmOp({ helm }), status: { summary } });
  bundles.saw({
    ...aBundle({ helm }),
    metadata: { ...metadata, labels: { [helmOpLabel]: app.name } },
  });
  assert.equal(view.fleet(all).apps[0]?.values, undefined);

  const reason = "ValuesError";
  const failed = { conditions: [{ type: "Deployed", status: "False", reason } as const] };
  deployments.saw(aDeployment("paris", { metadata: { resourceVersion: "9" }, status: failed }));
  assert.deepEqual(view.fleet(all).apps[0]?.values, [
    { kind: "Secret", namespace: "apps", name: "login" },
  ]);
});
