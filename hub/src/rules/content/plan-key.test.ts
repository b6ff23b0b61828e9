import assert from "node:assert/strict";
import { bundleUidAnnotation } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { aDeployment } from "../../testing/index.ts";
import { createPinSigner } from "../resolve/pin-signature.ts";
import { createDeploymentTrust } from "./deployment-signature.ts";
import { planKey } from "./plan-key.ts";

const bytes = Buffer.from("the signing key of the hub, in a test");
const plans = { bundleUid: "uid-web", rollout: "web-7" };

const promoted = aDeployment("paris", {
  metadata: { annotations: { [bundleUidAnnotation]: "uid-web" } },
  spec: { promotion: { rollout: "web-7", at: "2026-12-01T10:00:00.000Z", from: "" } },
});

function keyOf(signsDeployments: boolean, deployment = promoted) {
  const trust = createDeploymentTrust(() => ({ bytes, signsDeployments }), createPinSigner, {
    get: () => undefined,
  });
  return trust.planKeyOf(deployment);
}

test("a replica sends with a promoted deployment the key that the leader has planned with", () => {
  assert.deepEqual(keyOf(true), planKey(createPinSigner(bytes), plans));
});

test("there is no key before all deployments are signed, nor for what no rollout promoted", () => {
  assert.equal(keyOf(false), undefined);
  assert.equal(keyOf(true, aDeployment("paris")), undefined);
});

test("each rollout has another key, and so has an app that is made again", () => {
  const signer = createPinSigner(bytes);
  const keys = [plans, { ...plans, rollout: "web-8" }, { ...plans, bundleUid: "uid-new" }].map(
    (each) => Buffer.from(planKey(signer, each)).toString("hex"),
  );

  assert.equal(new Set(keys).size, 3);
  assert.ok(keys.every((key) => key.length >= 64));
});
