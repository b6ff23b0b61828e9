import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";
import { test } from "vitest";
import { destinationOf, isLocal, policyNamespacesOf, targetsAnnotation } from "./destination.ts";
import { aHelmRelease } from "./testing/index.ts";

const everywhere = [{ clusterSelector: {} }];

const placed: readonly (readonly [
  what: string,
  spec: Partial<HelmReleaseSpec>,
  annotation: string | undefined,
  expected: object,
])[] = [
  [
    "without targets the hub's own cluster",
    {},
    undefined,
    { clusterNamespace: "fleet-local", targets: [{ name: "local", clusterName: "local" }] },
  ],
  ["its targets", { targets: everywhere }, undefined, { targets: everywhere }],
  ["those of the annotation", {}, JSON.stringify(everywhere), { targets: everywhere }],
  [
    "its targets rather than the annotation",
    { targets: everywhere },
    JSON.stringify([{ clusterName: "other" }]),
    { targets: everywhere },
  ],
  [
    "the hub's own cluster with an empty annotation",
    {},
    "[]",
    { clusterNamespace: "fleet-local", targets: [{ name: "local", clusterName: "local" }] },
  ],
  [
    "the Cluster of its kubeConfig",
    { kubeConfig: { secretRef: { name: "paris-kubeconfig" } } },
    undefined,
    { targets: [{ name: "paris", clusterName: "paris" }] },
  ],
];

test.each(placed)("a HelmRelease goes to %s", (_, spec, annotation, expected) => {
  const annotations = annotation === undefined ? {} : { [targetsAnnotation]: annotation };
  assert.deepEqual(destinationOf(aHelmRelease(spec, { annotations })), expected);
});

const refused: readonly (readonly [
  what: string,
  spec: Partial<HelmReleaseSpec>,
  annotation: string | undefined,
  message: RegExp,
])[] = [
  [
    "a kubeConfig of another Secret",
    { kubeConfig: { secretRef: { name: "mine" } } },
    undefined,
    /names the Secret mine: .*CLUSTER-kubeconfig of a Cluster in namespace apps, or set spec\.targets/,
  ],
  [
    "a kubeConfig with only the suffix",
    { kubeConfig: { secretRef: { name: "-kubeconfig" } } },
    undefined,
    /names the Secret -kubeconfig/,
  ],
  [
    "a kubeConfig of a cloud",
    { kubeConfig: { configMapRef: { name: "eks" } } },
    undefined,
    /names no Secret/,
  ],
  [
    "a kubeConfig besides targets",
    { kubeConfig: { secretRef: { name: "paris-kubeconfig" } }, targets: everywhere },
    undefined,
    /both say where it goes/,
  ],
  ["an annotation that is not JSON", {}, "clusters: all", /is not JSON/],
  ["an annotation that is not a list", {}, '{"clusterName":"a"}', /is not a list of targets/],
  [
    "a target with a chart of its own",
    { targets: [{ clusterName: "a" }, { clusterName: "b", helm: { version: "2" } }] },
    undefined,
    /^targets\[1\]\.helm names a chart/,
  ],
  [
    "a list of too many targets",
    { targets: Array.from({ length: 1_001 }, () => ({ clusterName: "a" })) },
    undefined,
    /^spec\.targets has 1001 entries, more than the limit of 1000: select several clusters with/,
  ],
  [
    "an annotation with too many targets",
    {},
    JSON.stringify(Array.from({ length: 1_001 }, () => ({ clusterName: "a" }))),
    /^annotation fleet\.cattle\.io\/targets has 1001 entries, more than the limit of 1000/,
  ],
];

test.each(refused)("%s is refused", (_, spec, annotation, message) => {
  const annotations = annotation === undefined ? {} : { [targetsAnnotation]: annotation };
  const error = destinationOf(aHelmRelease(spec, { annotations }));
  assert.ok(error instanceof AppError);
  assert.equal(error.code, "HELMRELEASE_INVALID");
  assert.match(error.message, message);
});

const locals: readonly (readonly [boolean, string, Partial<HelmReleaseSpec>, string])[] = [
  [true, "without targets", {}, "apps"],
  [true, "with targets in the namespace of that cluster", { targets: everywhere }, "fleet-local"],
  [
    true,
    "with a kubeConfig in the namespace of that cluster",
    { kubeConfig: { secretRef: { name: "local-kubeconfig" } } },
    "fleet-local",
  ],
  [false, "with targets in a workspace", { targets: everywhere }, "fleet-default"],
];

test.each(locals)("%s: it is local %s", (expected, _, spec, namespace) => {
  const release = aHelmRelease(spec, { namespace });
  const destination = destinationOf(release);
  assert.ok(!(destination instanceof AppError));
  assert.equal(isLocal(release, destination), expected);
});

test("a HelmRelease obeys the Policies of its namespace, and those of the namespace of its Clusters", () => {
  assert.deepEqual(policyNamespacesOf(aHelmRelease()), ["apps", "fleet-local"]);
  assert.deepEqual(policyNamespacesOf(aHelmRelease({ targets: everywhere })), ["apps"]);
  const local = aHelmRelease({}, { namespace: "fleet-local" });
  assert.deepEqual(policyNamespacesOf(local), ["fleet-local"]);
  assert.deepEqual(policyNamespacesOf(aHelmRelease({ kubeConfig: {} })), ["apps"]);
});
