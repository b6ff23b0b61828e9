import assert from "node:assert/strict";
import { type Bundle, type BundleDeployment, formatObjectRef } from "@flotilla/shared/api";
import { type Change, createStore } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { aBundle, aCluster, aDeployment, workspace } from "../../testing/index.ts";
import {
  changedReferences,
  clusterInfoOf,
  isClusterInfoChange,
  watchReferences,
} from "./references.ts";

const naming = (...references: readonly string[]) =>
  aDeployment("paris", { spec: { referencedObjects: [...references] } });

describe("the references of a BundleDeployment", () => {
  const cases: readonly (readonly [
    string,
    BundleDeployment | undefined,
    BundleDeployment | undefined,
    readonly string[],
    readonly string[],
  ])[] = [
    [
      "added with it",
      undefined,
      naming("Secret/a", "ConfigMap/b"),
      ["Secret/a", "ConfigMap/b"],
      [],
    ],
    ["removed with it", naming("Secret/a"), undefined, [], ["Secret/a"]],
    [
      "changes with it",
      naming("Secret/a", "Secret/b"),
      naming("Secret/b", "Secret/c"),
      ["Secret/c"],
      ["Secret/a"],
    ],
    ["stay while it is only being deleted", naming("Secret/a"), naming("Secret/a"), [], []],
    ["are empty when it references nothing", undefined, aDeployment("paris"), [], []],
    ["are empty when its reference is not a key", undefined, naming("nonsense"), [], []],
  ];
  for (const [what, before, after, added, dropped] of cases) {
    test(what, () => {
      const changed = changedReferences(before, after);

      assert.deepEqual(
        [changed.added.map(formatObjectRef), changed.dropped.map(formatObjectRef)],
        [added, dropped],
      );
    });
  }

  function watching(isTrusted: (deployment: BundleDeployment) => boolean) {
    let notify: (change: Change<BundleDeployment>) => void = () => undefined;
    const calls: string[] = [];
    let notifyBundle: (change: Change<Bundle>) => void = () => undefined;
    const store = createStore<BundleDeployment>();
    watchReferences(
      {
        deployments: {
          store,
          onChange(listener) {
            notify = listener;
            return () => undefined;
          },
        },
        bundles: {
          onChange(listener) {
            notifyBundle = listener;
            return () => undefined;
          },
        },
      },
      {
        watch: (namespace, ref) => void calls.push(`+ ${namespace} ${formatObjectRef(ref)}`),
        unwatch: (namespace, ref) => void calls.push(`- ${namespace} ${formatObjectRef(ref)}`),
      },
      { isTrusted },
    );
    return {
      ...{ calls, store },
      notify: (change: Change<BundleDeployment>) => notify(change),
      notifyBundle: (change: Change<Bundle>) => notifyBundle(change),
    };
  }
  const line = `${workspace} Secret/a`;

  test("are watched in the workspace of its cluster, once for each reference", () => {
    const { calls, notify } = watching(() => true);

    notify({ key: "a/1", after: naming("Secret/a") });
    notify({ key: "a/2", after: naming("Secret/a") });
    notify({ key: "a/1", before: naming("Secret/a") });

    assert.deepEqual(calls, [`+ ${line}`, `+ ${line}`, `- ${line}`]);
  });

  test("are not watched while somebody else wrote them, and each watch ends once", () => {
    let isTrusted = true;
    const { calls, notify } = watching(() => isTrusted);

    notify({ key: "a/1", after: naming("Secret/a") });
    isTrusted = false;
    notify({ key: "a/1", before: naming("Secret/a"), after: naming("Secret/a", "Secret/b") });
    notify({ key: "a/2", after: naming("Secret/c") });
    notify({ key: "a/1", before: naming("Secret/a", "Secret/b") });

    assert.deepEqual(calls, [`+ ${line}`, `- ${line}`]);
  });

  test("are watched from the moment that their Bundle is known, which may be later, and until it is deleted", () => {
    let isTrusted = false;
    const { calls, store, notify, notifyBundle } = watching(() => isTrusted);
    const deployment = naming("Secret/a");
    const bundle = aBundle();
    const key = keyOf(bundle);
    store.set(deployment);

    notify({ key: keyOf(deployment), after: deployment });
    isTrusted = true;
    notifyBundle({ key, after: bundle });
    notifyBundle({ key, before: bundle, after: { ...bundle } });
    isTrusted = false;
    notifyBundle({ key, before: bundle });

    assert.deepEqual(calls, [`+ ${line}`, `- ${line}`]);
  });
});

describe("cluster info", () => {
  const paris = aCluster("paris", {
    metadata: {
      labels: { region: "eu" },
      annotations: { a: "b", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
    },
    spec: { templateValues: { size: 3 } },
  });

  test("has the name, labels, annotations and template values", () => {
    assert.deepEqual(clusterInfoOf(paris), {
      namespace: workspace,
      name: "paris",
      labels: { region: "eu" },
      annotations: { a: "b" },
      templateValues: { size: 3 },
    });
    assert.deepEqual(clusterInfoOf(aCluster("rome")), {
      namespace: workspace,
      name: "rome",
      labels: {},
      annotations: {},
      templateValues: {},
    });
  });

  test("changes with those fields only", () => {
    const { metadata, spec } = paris;

    assert.equal(isClusterInfoChange(undefined, paris), true);
    assert.equal(isClusterInfoChange(paris, undefined), false);
    assert.equal(isClusterInfoChange(paris, { ...paris, status: { namespace: "other" } }), false);
    assert.equal(isClusterInfoChange(paris, { ...paris, spec: { ...spec, paused: true } }), false);
    for (const changed of [
      { ...paris, metadata: { ...metadata, labels: { region: "us" } } },
      { ...paris, metadata: { ...metadata, annotations: {} } },
      { ...paris, spec: { templateValues: { size: 4 } } },
    ])
      assert.equal(isClusterInfoChange(paris, changed), true);
  });
});
