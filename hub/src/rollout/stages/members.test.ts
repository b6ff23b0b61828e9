import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { test } from "vitest";
import { aCluster, aDeployment, digestA, digestB } from "../../testing/index.ts";
import { memberOf } from "./members.ts";

function aMember(deployment: BundleDeployment, isSigned = true) {
  const cluster = aCluster("paris");
  return memberOf({
    cluster,
    key: "fleet-default/paris",
    deployment,
    isSigned,
    content: digestA,
    isHeld: false,
    skip: new Set(),
    plan: undefined,
  });
}

test("the readiness of the content before proves nothing about the one that was promoted", () => {
  const status = { appliedDeploymentID: digestB, ready: true };

  assert.equal(aMember(aDeployment("paris", { status })).isReady, false);
});

test("what somebody else wrote into a deployment counts for nothing", () => {
  const promotion = { rollout: "web-1", at: "2026-01-01T00:00:00Z", from: digestB };
  const forged = aDeployment("paris", { spec: { deploymentID: digestB, promotion } });

  const { desired, promotion: believed } = aMember(forged, false);

  assert.equal(desired, "");
  assert.equal(believed, undefined);
});
