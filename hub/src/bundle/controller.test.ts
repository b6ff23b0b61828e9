import assert from "node:assert/strict";
import { startWatches } from "@flotilla/shared/kube/controller";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import {
  aBundle,
  aCluster,
  aDeployment,
  aHelmOp,
  createTestCaches,
  decidedBundle,
  httpPin,
  workspace,
} from "../testing/index.ts";
import { bundleWatches } from "./controller.ts";
import { decidedStatus, targetsMissing } from "./decided-status.ts";

const bundle = `${workspace}/web`;

/** The watches of the controller, and the keys that they deliver. */
function start(prepare: (caches: ReturnType<typeof createTestCaches>) => void = () => undefined) {
  const caches = createTestCaches();
  prepare(caches);
  const keys: ObjectKey[] = [];
  const watches = bundleWatches(
    {
      caches,
      statuses: {
        current: ({ status }) => status,
        publish: () => undefined,
        refresh: () => undefined,
        refreshLater: () => undefined,
        flush: () => Promise.resolve(),
      },
      secrets: { start: () => () => undefined },
      clock: createFakeClock(),
    },
    () => undefined,
  );
  const stop = startWatches(watches, (key) => keys.push(key));
  return { caches, keys, stop };
}

const changed = { generation: 2, resourceVersion: "2" };

test("thousands of deployments that were written reconcile their Bundle a few times, not thousands", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `cluster-${index}`);
  const { caches, keys } = start((caches) => {
    for (const name of names) {
      caches.clusters.saw(aCluster(name));
      caches.deployments.saw(aDeployment(name));
    }
  });

  for (const name of names) caches.deployments.saw(aDeployment(name, { metadata: changed }));

  const count = keys.filter((key) => key === bundle).length;
  assert.ok(count >= 1 && count <= 5, `${count} reconciles`);
});

describe("a change of a cluster reconciles a Bundle", () => {
  const elsewhere = [{ clusterName: "rome" }];
  const missing = { status: "True", reason: targetsMissing, message: "" } as const;
  const cases = [
    ["that is deployed there", aBundle({ targets: [{ clusterSelector: {} }] }), true],
    ["that is deployed elsewhere: not", aBundle({ targets: elsewhere }), false],
    [
      "whose targets name something that does not exist",
      {
        ...aBundle({ targets: elsewhere }),
        status: decidedStatus(aBundle(), undefined, { accepted: missing, now: "2026-01-01" }),
      },
      true,
    ],
  ] as const;
  for (const [what, object, isReconciled] of cases)
    test(what, () => {
      const { caches, keys } = start(({ bundles }) => void bundles.saw(object));
      keys.splice(0);

      caches.clusters.saw(aCluster("paris"));

      assert.deepEqual(keys, isReconciled ? [bundle] : []);
    });
});

test("pins that the API server has now reconcile a Bundle, and no other change of its status does", () => {
  const applied = aBundle({}, { labels: {}, resourceVersion: "1" });
  const pins = [{ repo: "r", chart: "c", version: "~1", pin: httpPin("1.2.9") }];
  const pinned = {
    ...applied,
    metadata: { ...applied.metadata, resourceVersion: "2" },
    status: { pins },
  };
  const { caches, keys } = start(({ bundles }) => void bundles.saw(applied));
  keys.splice(0);

  caches.bundles.saw(pinned);
  assert.deepEqual(keys, [bundle]);

  caches.bundles.saw({
    ...pinned,
    metadata: { ...pinned.metadata, resourceVersion: "3" },
    status: { pins, unavailable: 1 },
  });
  assert.deepEqual(keys, [bundle]);
});

test("a HelmOp that is created or deleted reconciles its Bundle", () => {
  const { caches, keys } = start(({ bundles }) => void bundles.saw(decidedBundle(aBundle())));
  keys.splice(0);

  caches.helmOps.saw(aHelmOp());
  caches.helmOps.missed(bundle);

  assert.deepEqual(keys, [bundle, bundle]);
});

test("watches that were stopped deliver nothing", () => {
  const { caches, keys, stop } = start();

  stop();
  caches.bundles.saw(aBundle());

  assert.deepEqual(keys, []);
});
