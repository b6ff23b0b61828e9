import assert from "node:assert/strict";
import type { Bundle, BundleDeployment } from "@flotilla/shared/api";
import {
  bundleDeploymentFinalizer,
  clusterNamespaceName,
  fleetClusterNamespaceName,
} from "@flotilla/shared/api/names";
import { describe, test } from "vitest";
import type { DeploymentSigner } from "../../rules/content/deployment-signature.ts";
import {
  aBundle,
  aCluster,
  aDeployment,
  digestA,
  digestB,
  workspace,
} from "../../testing/index.ts";
import type { Placement } from "./place.ts";
import { type DeploymentPlan, planDeployments as planSigned } from "./plan-deployments.ts";
import { planRollout } from "./plan-rollout.ts";
import { placed } from "./testing/index.ts";

const bundle = aBundle();
/** Signatures have tests of their own, and so have windows. */
function planDeployments(
  ...[of, placements, existing]: [Bundle, readonly Placement[], readonly BundleDeployment[]]
): DeploymentPlan {
  return planSigned(of, planRollout(of, placements, { isOffSchedule: () => false }), existing, {
    signer: trusting,
    isOffSchedule: () => false,
  });
}

const trusting: DeploymentSigner = {
  ...{ isSigned: () => true, isSignedFor: () => true, replaced: () => undefined },
  signed: (each) => each,
};

const deletionTimestamp = "2026-01-01T00:00:00Z";

/** As the plan writes it, so that a second plan changes nothing. */
function settled(name: string): BundleDeployment {
  const [created] = planDeployments(bundle, [placed(aCluster(name))], []).create;
  assert.ok(created !== undefined);
  return {
    ...created,
    metadata: { ...created.metadata, uid: `uid-${name}`, resourceVersion: "1" },
  };
}

describe("the deployments of a Bundle", () => {
  test("are created in the cluster namespaces, with the Bundle's name and Fleet's labels", () => {
    const { create, ...others } = planDeployments(
      aBundle(
        {},
        {
          labels: {
            "fleet.cattle.io/fleet-helm-name": "web",
            "fleet.cattle.io/cluster": "forged",
            "objectset.rio.cattle.io/hash": "x",
            "field.cattle.io": "x",
            "kubectl.kubernetes.io/last": "x",
            team: "a",
            "example.com/cattle": "kept",
          },
        },
      ),
      [placed(aCluster("paris"))],
      [],
    );

    assert.deepEqual(others, { replace: [], remove: [], offSchedule: [], waiting: 0 });
    assert.deepEqual(create, [
      {
        apiVersion: "fleet.cattle.io/v1alpha1",
        kind: "BundleDeployment",
        metadata: {
          name: "web",
          namespace: clusterNamespaceName(workspace, "paris"),
          labels: {
            "fleet.cattle.io/fleet-helm-name": "web",
            "fleet.cattle.io/managed": "true",
            "fleet.cattle.io/bundle-name": "web",
            "fleet.cattle.io/bundle-namespace": workspace,
            "fleet.cattle.io/cluster": "paris",
            "fleet.cattle.io/cluster-namespace": workspace,
            team: "a",
            "example.com/cattle": "kept",
          },
          finalizers: [bundleDeploymentFinalizer],
        },
        spec: { deploymentID: digestA, stagedDeploymentID: digestA },
      },
    ]);
  });

  test("name their Cluster, and are deleted when another Cluster has its name", () => {
    const first = placed(aCluster("paris", { metadata: { uid: "first" } }));
    const [created] = planDeployments(bundle, [first], []).create;
    assert.ok(created !== undefined);
    assert.equal(created.metadata.labels?.["flotilla.dev/cluster-uid"], "first");
    const second = placed(aCluster("paris", { metadata: { uid: "second" } }));

    assert.deepEqual(planDeployments(bundle, [first], [created]).remove, []);
    assert.deepEqual(planDeployments(bundle, [second], [created]), {
      create: [],
      replace: [],
      remove: [created],
      offSchedule: [],
      waiting: 1,
    });
  });

  test("are not written when they are up to date", () => {
    const plan = planDeployments(bundle, [placed(aCluster("paris"))], [settled("paris")]);

    assert.deepEqual(plan, { create: [], replace: [], remove: [], offSchedule: [], waiting: 0 });
  });

  test("get a new content and keep all other fields", () => {
    const current = {
      ...settled("paris"),
      status: { appliedDeploymentID: digestA },
    };

    const { replace } = planDeployments(bundle, [placed(aCluster("paris"), digestB)], [current]);

    assert.deepEqual(replace, [
      { ...current, spec: { deploymentID: digestB, stagedDeploymentID: digestB } },
    ]);
  });

  test("reference the objects of their content, and while paused also those of the running content", () => {
    const referencing = placed(aCluster("paris"), digestA, ["Secret/a"]);
    const [created] = planDeployments(bundle, [referencing], []).create;
    assert.ok(created !== undefined);
    assert.deepEqual(created.spec.referencedObjects, ["Secret/a"]);
    const next = placed(aCluster("paris"), digestB, ["ConfigMap/b"]);

    const [changed] = planDeployments(bundle, [next], [created]).replace;
    const [waiting] = planDeployments(aBundle({ paused: true }), [next], [created]).replace;

    assert.deepEqual(changed?.spec.referencedObjects, ["ConfigMap/b"]);
    assert.deepEqual(waiting?.spec.referencedObjects, ["ConfigMap/b", "Secret/a"]);
  });

  test("keep the keys that the running content uses beside those of the next one, and a whole object whole", () => {
    const running = ["Secret/a#one", "Secret/b#one", "Secret/c"];
    const next = ["Secret/a#two", "Secret/b", "Secret/c#two"];
    const [created] = planDeployments(
      bundle,
      [placed(aCluster("paris"), digestA, running)],
      [],
    ).create;
    assert.ok(created !== undefined);
    const placement = placed(aCluster("paris"), digestB, next);

    const [waiting] = planDeployments(aBundle({ paused: true }), [placement], [created]).replace;

    assert.deepEqual(created.spec.referencedObjects, running);
    assert.deepEqual(waiting?.spec.referencedObjects, ["Secret/a#one,two", "Secret/b", "Secret/c"]);
  });

  test("get the Bundle's labels when these change", () => {
    const renamed = aBundle({}, { labels: { ...bundle.metadata.labels, team: "b" } });

    const { replace } = planDeployments(renamed, [placed(aCluster("paris"))], [settled("paris")]);

    assert.equal(replace[0]?.metadata.labels?.["team"], "b");
    assert.equal(replace[0].metadata.resourceVersion, "1");
  });

  test("are deleted where no target matches any more", () => {
    const { remove } = planDeployments(
      bundle,
      [placed(aCluster("paris"))],
      [settled("paris"), settled("rome")],
    );

    assert.deepEqual(remove, [settled("rome")]);
  });

  test("are not deleted twice", () => {
    const terminating = aDeployment("rome", { metadata: { deletionTimestamp } });

    assert.deepEqual(planDeployments(bundle, [], [terminating]).remove, []);
  });

  test("are created after an earlier deployment of the same name is deleted", () => {
    const terminating = aDeployment("paris", { metadata: { deletionTimestamp } });

    assert.deepEqual(planDeployments(bundle, [placed(aCluster("paris"))], [terminating]), {
      create: [],
      replace: [],
      remove: [],
      offSchedule: [],
      waiting: 1,
    });
  });

  test("stay in the namespace with Fleet's name when a restored Cluster has no status", () => {
    const name = "retail-emea-production-store-edge-gateway-98";
    const fleetName = fleetClusterNamespaceName(workspace, name);
    const { metadata, ...existing } = settled(name);
    const inFleetNamespace = { ...existing, metadata: { ...metadata, namespace: fleetName } };
    const restored = placed(aCluster(name, { status: {} }));

    assert.deepEqual(planDeployments(bundle, [restored], [inFleetNamespace]).remove, []);

    const left = placed(aCluster(name));

    assert.deepEqual(planDeployments(bundle, [left], [inFleetNamespace]).remove, [
      inFleetNamespace,
    ]);
  });

  test("are not those of another Cluster that has the namespace with Fleet's name", () => {
    const [name, other] = [
      "retail-emea-production-store-edge-gateway-98",
      "retail-emea-production-store-edge-gateway-620",
    ] as const;
    const fleetName = fleetClusterNamespaceName(workspace, name);
    const { metadata, ...existing } = settled(other);
    const others = { ...existing, metadata: { ...metadata, namespace: fleetName } };
    const restored = placed(aCluster(name, { status: {} }), digestB);
    const owner = { ...placed(aCluster(other)), namespace: fleetName };

    assert.deepEqual(planDeployments(bundle, [restored, owner], [others]), {
      ...{ create: [], replace: [], remove: [], offSchedule: [], waiting: 0 },
    });
  });

  test("are not created before the cluster has a namespace", () => {
    const plan = planDeployments(bundle, [placed(aCluster("paris", { status: {} }))], []);

    assert.deepEqual(plan, { create: [], replace: [], remove: [], offSchedule: [], waiting: 0 });
  });

  test("stay in a cluster that lost its status, as after a restore", () => {
    const plan = planDeployments(
      bundle,
      [placed(aCluster("paris", { status: {} }))],
      [settled("paris")],
    );

    assert.deepEqual(plan, { create: [], replace: [], remove: [], offSchedule: [], waiting: 0 });
  });
});

describe("suspending", () => {
  const suspended = aBundle({ suspend: true });
  const isSuspended = true;

  test("stages a new content, deploys nothing, and marks the deployment", () => {
    const { replace } = planDeployments(
      suspended,
      [{ ...placed(aCluster("paris"), digestB), isSuspended }],
      [settled("paris")],
    );

    assert.deepEqual(replace[0]?.spec, {
      deploymentID: digestA,
      stagedDeploymentID: digestB,
      suspend: true,
    });
  });

  test("keeps what is deployed on clusters that are not targeted any more", () => {
    assert.deepEqual(planDeployments(suspended, [], [settled("paris")]).remove, []);
  });

  test("one target affects only its clusters", () => {
    const { replace } = planDeployments(
      bundle,
      [{ ...placed(aCluster("paris"), digestB), isSuspended }, placed(aCluster("rome"), digestB)],
      [settled("paris"), settled("rome")],
    );

    assert.deepEqual(
      replace.map(({ spec }) => spec.deploymentID),
      [digestA, digestB],
    );
  });
});

describe("pausing", () => {
  const paused = aBundle({ paused: true });

  test("a Bundle stages a new content and deploys nothing", () => {
    const { replace } = planDeployments(
      paused,
      [placed(aCluster("paris"), digestB)],
      [settled("paris")],
    );

    assert.deepEqual(replace[0]?.spec, {
      deploymentID: digestA,
      stagedDeploymentID: digestB,
      paused: true,
    });
  });

  test("a cluster affects only that cluster", () => {
    const { replace } = planDeployments(
      bundle,
      [
        placed(aCluster("paris", { spec: { paused: true } }), digestB),
        placed(aCluster("rome"), digestB),
      ],
      [settled("paris"), settled("rome")],
    );

    assert.deepEqual(
      replace.map(({ spec }) => spec.deploymentID),
      [digestA, digestB],
    );
  });

  test("creates a new deployment that runs nothing yet", () => {
    const { create } = planDeployments(paused, [placed(aCluster("paris"))], []);

    assert.deepEqual(create[0]?.spec, {
      deploymentID: "",
      stagedDeploymentID: digestA,
      paused: true,
    });
  });

  test("and then resuming deploys what was staged", () => {
    const existing = {
      ...settled("paris"),
      spec: { deploymentID: digestA, stagedDeploymentID: digestB, paused: true },
    };

    const { replace } = planDeployments(bundle, [placed(aCluster("paris"), digestB)], [existing]);

    assert.deepEqual(replace[0]?.spec, { deploymentID: digestB, stagedDeploymentID: digestB });
  });
});
