import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { test } from "vitest";
import { aDeployment, digestA, digestB } from "../../testing/index.ts";
import { createTextSharing } from "./shared-texts.ts";

const promotion = { rollout: "web-1", at: "2026-01-01T00:00:00Z", from: digestB, wasReady: true };

function parsed(cluster: string): BundleDeployment {
  const status = { appliedDeploymentID: digestA, ready: true };
  const object = aDeployment(cluster, { spec: { promotion }, status });
  return JSON.parse(JSON.stringify(object));
}

test("a BundleDeployment says the same after its texts are shared", () => {
  const share = createTextSharing();
  for (const object of [parsed("paris"), aDeployment("rome")])
    assert.deepEqual(share(object), object);
});

test("managed fields are dropped, as in other caches", () => {
  const share = createTextSharing();
  const { metadata, ...others } = parsed("paris");
  const written = { ...others, metadata: { ...metadata, managedFields: [{ manager: "hub" }] } };

  assert.equal(share(written).metadata.managedFields, undefined);
});
