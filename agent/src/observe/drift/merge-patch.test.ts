import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { mergePatchOf } from "./merge-patch.ts";

function deployment(containers: readonly unknown[], spec: object = {}): KubeObject {
  const object = {
    ...{ apiVersion: "apps/v1", kind: "Deployment" },
    metadata: { name: "web", namespace: "shop", labels: { app: "web" }, resourceVersion: "7" },
    spec: { ...spec, template: { spec: { containers } } },
  };
  return object;
}

const env = [
  { name: "MODE", value: "default" },
  { name: "MODE", value: "custom" },
];

test("the patch changes what differs, and keeps what others have added to the same items of a list", () => {
  const live = deployment(
    [{ name: "web", image: "evil:1", env, terminationMessagePath: "/dev/log", resources: {} }],
    { replicas: 3 },
  );
  const desired = deployment([{ name: "web", image: "web:1", env }]);

  assert.deepEqual(mergePatchOf(desired, live), {
    metadata: { labels: { app: "web" }, resourceVersion: "7" },
    spec: {
      template: {
        spec: {
          containers: [
            { name: "web", image: "web:1", env, terminationMessagePath: "/dev/log", resources: {} },
          ],
        },
      },
    },
  });
});

test("a list with other items is replaced", () => {
  const live = deployment([{ name: "web", image: "web:1" }, { name: "added" }]);
  const desired = deployment([{ name: "web", image: "web:1" }]);

  const { spec } = mergePatchOf(desired, live);

  assert.deepEqual(spec, { template: { spec: { containers: [{ name: "web", image: "web:1" }] } } });
});

test("a field that is null, as in the cluster, is left alone", () => {
  const live = deployment([], { replicas: null, paused: true });
  const desired = deployment([], { replicas: null });

  const { spec } = mergePatchOf(desired, live);

  assert.deepEqual(spec, { template: { spec: { containers: [] } } });
});
