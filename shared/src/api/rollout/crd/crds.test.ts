import assert from "node:assert/strict";
import { test } from "vitest";
import { rootOf, testCrds } from "../../fleet/crd/testing/index.ts";
import { rolloutCrds } from "./index.ts";

const crds = rolloutCrds();

test("there is a CRD for each kind of rollouts, in a group of its own, and one of them without a status", () => {
  assert.deepEqual(
    crds.map((crd) => [crd.metadata.name, rootOf(crd).properties?.["status"] !== undefined]),
    [
      ["bundlerollouts.flotilla.dev", true],
      ["gates.flotilla.dev", true],
      ["rolloutpolicies.flotilla.dev", false],
    ],
  );
});

testCrds(crds);
