import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { bundleUidAnnotation } from "@flotilla/shared/api/names";
import { describe, test } from "vitest";
import { createDeploymentSigner } from "../../rules/content/deployment-signature.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { aBundle, aCluster, digestA, digestB } from "../../testing/index.ts";
import { planDeployments } from "./plan-deployments.ts";
import { planRollout } from "./plan-rollout.ts";
import { placed } from "./testing/index.ts";

const bundle = aBundle();

describe("the signatures of deployments", () => {
  const signer = createDeploymentSigner(createPinSigner(Buffer.from("key")));
  const paris = placed(aCluster("paris"), digestA, ["Secret/a"]);
  const plan = (existing: readonly BundleDeployment[], of = bundle, placement = paris) =>
    planDeployments(of, planRollout(of, [placement], { isOffSchedule: () => false }), existing, {
      signer,
      isOffSchedule: () => false,
    });

  function created(): BundleDeployment {
    const [fresh] = plan([]).create;
    assert.ok(fresh !== undefined);
    return { ...fresh, metadata: { ...fresh.metadata, uid: "uid-paris" } };
  }

  test("are written with each, and are not written again", () => {
    assert.equal(signer.isSigned(created()), true);
    assert.deepEqual(plan([created()]).replace, []);
  });

  test("hold for the same deployment with another status, and for no other one", () => {
    const before = created();
    assert.equal(signer.isSigned(before), true);
    const reported = { ...structuredClone(before), status: { ready: true } };
    const elsewhere = structuredClone({
      ...before,
      metadata: { ...before.metadata, namespace: "other" },
    });
    const another = { ...structuredClone(before), spec: { ...before.spec, deploymentID: digestB } };
    const { annotations: _, ...unsigned } = before.metadata;
    const after = [reported, elsewhere, another, { ...before, metadata: unsigned }];
    for (const each of after) signer.replaced(before, each);

    assert.deepEqual(after.map(signer.isSigned), [true, false, false, false]);
  });

  test("are not computed again after a report", () => {
    let computed = 0;
    const pins = createPinSigner(Buffer.from("key"));
    const counting = createDeploymentSigner({
      ...pins,
      isSigned(data, signature) {
        computed += 1;
        return pins.isSigned(data, signature);
      },
    });
    const before = created();
    const reported = { ...structuredClone(before), status: { ready: true } };
    counting.isSigned(before);
    counting.replaced(before, reported);

    assert.equal(counting.isSigned(reported), true);
    assert.equal(computed, 1);
  });

  test("are added to a deployment of an older hub, which stays the same otherwise", () => {
    const { annotations: _, ...metadata } = created().metadata;

    assert.deepEqual(plan([{ ...created(), metadata }]).replace, [created()]);
  });

  const secretOfOthers = { referencedObjects: ["Secret/other/token"] };
  for (const [what, changes] of [
    ["a reference to an object of another namespace", secretOfOthers],
    ["the content of another deployment", { deploymentID: digestB }],
  ] as const)
    test(`are invalid with ${what}, which is taken back`, () => {
      const forged = { ...created(), spec: { ...created().spec, ...changes } };

      assert.equal(signer.isSigned(forged), false);
      assert.deepEqual(plan([forged]).replace, [created()]);
    });

  test("are not given to what somebody else wrote into a paused deployment", () => {
    const paused = aBundle({ paused: true });
    const forged = {
      ...created(),
      spec: { ...created().spec, ...secretOfOthers, deploymentID: digestB, paused: true },
    };

    const replaced = plan([forged], paused).replace;

    assert.deepEqual(
      replaced.filter((each) => signer.isSigned(each)),
      [],
    );
    assert.deepEqual(plan([forged]).replace, [created()]);
  });

  test("stay with what a paused deployment runs while another content is staged", () => {
    const next = placed(aCluster("paris"), digestB);

    const [waiting] = plan([created()], aBundle({ paused: true }), next).replace;

    assert.ok(waiting !== undefined);
    assert.equal(waiting.spec.deploymentID, digestA);
    assert.equal(signer.isSigned(waiting), true);
  });

  test("are of one Bundle: one of the same name that is created again writes its own", () => {
    const again = { ...bundle, metadata: { ...bundle.metadata, uid: "another" } };
    const [replaced] = plan([created()], again).replace;

    assert.equal(signer.isSignedFor(created(), "another"), false);
    assert.ok(replaced !== undefined);
    assert.equal(signer.isSignedFor(replaced, "another"), true);
  });

  test("are invalid with the UID of another Bundle", () => {
    const { metadata, ...others } = created();
    const annotations = { ...metadata.annotations, [bundleUidAnnotation]: "another" };

    assert.equal(signer.isSigned({ ...others, metadata: { ...metadata, annotations } }), false);
  });

  test("are of one namespace and name", () => {
    const { metadata, ...others } = created();
    for (const moved of [{ namespace: "cluster-oslo" }, { name: "api" }])
      assert.equal(signer.isSigned({ ...others, metadata: { ...metadata, ...moved } }), false);
  });
});
