import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { bundleOf } from "../../rules/frontend/planned-bundle.ts";
import { destinationOf } from "./destination.ts";
import { planRelease, releaseNameOf } from "./plan.ts";
import { aHelmRelease, resolvedWeb } from "./testing/index.ts";

function plan(spec: Partial<HelmReleaseSpec> = {}, metadata: Partial<ObjectMeta> = {}) {
  const release = aHelmRelease(spec, metadata);
  const destination = destinationOf(release);
  assert.ok(!(destination instanceof AppError));
  const planned = planRelease(release, { chart: resolvedWeb, destination });
  return bundleOf(planned, { pins: planned.pins ?? [] });
}

/** Flux's known answers. */
const names: readonly (readonly [
  name: string,
  spec: Partial<HelmReleaseSpec>,
  expected: string,
])[] = [
  ["web", {}, "web"],
  ["web", { targetNamespace: "shop" }, "shop-web"],
  ["web", { targetNamespace: "shop", releaseName: "own" }, "own"],
  [
    "with-a-nice-object-name",
    { targetNamespace: "a-very-lengthy-target-namespace" },
    "a-very-lengthy-target-namespace-with-a-n-97af5d7f41f3",
  ],
  [
    "web",
    { releaseName: "release-name-with-very-long-name-which-is-longer-than-53-characters" },
    "release-name-with-very-long-name-which-i-788ca0d0d7b0",
  ],
  ["a".repeat(53), {}, "a".repeat(53)],
];

test.each(names)("a HelmRelease %s with %j has the release name %s", (name, spec, expected) => {
  const release = aHelmRelease(spec, { name });
  assert.ok(release.spec !== undefined);
  assert.equal(releaseNameOf(release, release.spec), expected);
});

test("the Bundle has the name of its kind, the pin, and the HelmRelease as its origin", () => {
  const { metadata, spec } = plan();
  assert.deepEqual([metadata.namespace, metadata.name], ["apps", "helmrelease-web"]);
  assert.deepEqual(spec.helm, {
    repo: "https://charts.example.com",
    chart: "web",
    version: "1.2.9",
    releaseName: "web",
    disablePreProcess: true,
  });
  assert.deepEqual(spec.helmOpOptions, {
    pins: [{ repo: resolvedWeb.repo, chart: "web", version: "1.2.9", pin: resolvedWeb.pin }],
    origin: {
      ...{ uid: "uid-web", generation: 1 },
      kind: "HelmRelease",
      name: "web",
      clusterNamespace: "fleet-local",
      access: resolvedWeb.access,
    },
  });
  assert.equal(metadata.annotations, undefined);
  assert.equal(spec.suspend, undefined);
});

const namespaces: readonly (readonly [
  spec: Partial<HelmReleaseSpec>,
  namespace: string,
  isCreated: boolean,
  records: string | undefined,
])[] = [
  [{}, "apps", false, undefined],
  [{ install: { createNamespace: true } }, "apps", false, undefined],
  [{ targetNamespace: "shop" }, "shop", false, "apps"],
  [{ targetNamespace: "shop", install: { createNamespace: true } }, "shop", true, "apps"],
  [{ targetNamespace: "apps", install: { createNamespace: true } }, "apps", true, undefined],
];

test.each(namespaces)(
  "%j is released to %s, created: %s, with Flux's records in %s",
  (given, namespace, isCreated, records) => {
    const { spec } = plan(given);
    assert.equal(spec.namespace, namespace);
    assert.equal(spec.createNamespace, isCreated);
    assert.equal(spec.helmOpOptions?.origin?.recordsNamespace, records);
  },
);

const dependencies: readonly (readonly [
  what: string,
  spec: Partial<HelmReleaseSpec>,
  expected: readonly object[],
])[] = [
  [
    "of its namespace on the hub's own cluster",
    { dependsOn: [{ name: "db" }] },
    [{ name: "apps.helmrelease-db" }],
  ],
  [
    "of another namespace",
    { dependsOn: [{ name: "mesh", namespace: "infra" }] },
    [{ name: "infra.helmrelease-mesh" }],
  ],
  [
    "of its workspace",
    { targets: [{ clusterSelector: {} }], dependsOn: [{ name: "db" }] },
    [{ name: "helmrelease-db" }],
  ],
  [
    "with an expression",
    { dependsOn: [{ name: "db", readyExpr: "true" }] },
    [{ name: "apps.helmrelease-db", readyExpr: "true" }],
  ],
];

test.each(dependencies)("dependsOn names the deployments %s", (_, spec, expected) => {
  assert.deepEqual(plan(spec).spec.dependsOn, expected);
});

test("valuesFrom names the objects with their namespace, with Flux's defaults", () => {
  const { spec } = plan({
    values: { a: 1 },
    valuesFrom: [
      { kind: "ConfigMap", name: "defaults" },
      {
        ...{ kind: "Secret", name: "login", valuesKey: "word", targetPath: "a.b" },
        ...{ optional: true, literal: true },
      },
    ],
  });
  assert.deepEqual(spec.helm?.values, { a: 1 });
  assert.deepEqual(spec.helmOpOptions?.origin?.valuesFrom, [
    { kind: "ConfigMap", name: "apps/defaults", key: "values.yaml" },
    {
      ...{ kind: "Secret", name: "apps/login", key: "word", targetPath: "a.b" },
      ...{ optional: true, literal: true },
    },
  ]);
});

test("an account is one of the HelmRelease's namespace", () => {
  const { origin } = plan({ serviceAccountName: "deployer", targetNamespace: "shop" }).spec
    .helmOpOptions ?? { origin: undefined };
  assert.equal(origin?.serviceAccount, "system:serviceaccount:apps:deployer");
});

test("a change of the name that is shortened to the same does not change the release", () => {
  const long = "a".repeat(60);
  const named = (releaseName: string) => plan({ releaseName }).spec.helm?.releaseName;
  assert.equal(named(long)?.length, 53);
  assert.equal(plan({ releaseName: named(long) ?? "" }).spec.helm?.releaseName, named(long));
  assert.notEqual(named(`${long}b`), named(long));
});

test("the strategy is that of the Bundle", () => {
  const rolloutStrategy = { stages: [{ name: "canary", clusterGroup: "canaries" }] };
  assert.deepEqual(plan({ rolloutStrategy }).spec.rolloutStrategy, rolloutStrategy);
});

test("an annotation names a RolloutPolicy where the spec has no strategy, as with Flux's own definitions", () => {
  const annotations = { "flotilla.dev/rollout-policy": "rings" };
  const rolloutStrategy = { maxUnavailable: 1 };

  assert.deepEqual(plan({}, { annotations }).spec.rolloutStrategy, { policy: "rings" });
  const both = plan({ rolloutStrategy }, { annotations });
  assert.deepEqual(both.spec.rolloutStrategy, rolloutStrategy);
  assert.equal(plan({}, {}).spec.rolloutStrategy, undefined);
});

test("suspend is passed on, and requests stay open meanwhile", () => {
  const annotations = { "reconcile.fluxcd.io/requestedAt": "one" };
  const { metadata, spec } = plan({ suspend: true }, { annotations });
  assert.equal(spec.suspend, true);
  assert.equal(metadata.annotations, undefined);
});

test("persistentClient changes nothing, because each run of Helm has a client of its own", () => {
  assert.deepEqual(plan({ persistentClient: false }), plan());
});

test("metadata for all objects has Flux's labels of the owner besides, which agents do not set", () => {
  const { spec } = plan({
    commonMetadata: {
      labels: { team: "a", "helm.toolkit.fluxcd.io/name": "forged" },
      annotations: { note: "b" },
    },
  });
  assert.deepEqual(spec.commonMetadata, {
    labels: {
      team: "a",
      "helm.toolkit.fluxcd.io/name": "web",
      "helm.toolkit.fluxcd.io/namespace": "apps",
    },
    annotations: { note: "b" },
  });
});

test("only the annotations of requests are passed on", () => {
  const { metadata } = plan(
    {},
    {
      annotations: {
        "reconcile.fluxcd.io/requestedAt": "one",
        "reconcile.fluxcd.io/forceAt": "two",
        "reconcile.fluxcd.io/resetAt": "",
        other: "thing",
      },
    },
  );
  assert.deepEqual(metadata.annotations, {
    "reconcile.fluxcd.io/requestedAt": "one",
    "reconcile.fluxcd.io/forceAt": "two",
  });
});

test("targets without a name get one, and the others keep theirs", () => {
  const { spec } = plan({ targets: [{ clusterName: "a" }, { name: "b", clusterName: "b" }] });
  assert.deepEqual(spec.targets, [
    { name: "target000", clusterName: "a" },
    { name: "b", clusterName: "b" },
  ]);
});

test("a long name is shortened for the Bundle and its label", () => {
  const { metadata } = plan({}, { name: "a".repeat(200) });
  assert.equal(metadata.name.length, 63);
  assert.deepEqual(Object.values(metadata.labels ?? {}), [metadata.name]);
});
