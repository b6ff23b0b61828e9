import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { aBundle, aDeployment, httpPin } from "../testing/objects.ts";
import { isFetchFailure, isPinChange } from "./changes.ts";

function failed(reason: string, message: string): BundleDeployment {
  return aDeployment("paris", {
    status: { conditions: [{ type: "Deployed", status: "False", reason, message }] },
  });
}

describe("that a chart could not be fetched", () => {
  const first = failed("ChartNotFetched", "404; it is tried again at 10:00");
  const cases: readonly (readonly [
    what: string,
    before: BundleDeployment | undefined,
    after: BundleDeployment | undefined,
    isTold: boolean,
  ])[] = [
    ["for the first time", aDeployment("paris"), first, true],
    ["by a deployment that is seen for the first time", undefined, first, true],
    ["once more", first, failed("ChartNotFetched", "404; it is tried again at 10:05"), true],
    ["after another failure", failed("Error", "no"), first, true],
    ["in a change of something else", first, { ...first, spec: { ...first.spec } }, false],
    ["no more", first, aDeployment("paris"), false],
    ["by what failed otherwise", aDeployment("paris"), failed("Error", "no"), false],
    ["by what is gone", first, undefined, false],
  ];
  for (const [what, before, after, isTold] of cases) {
    test(`${what} is ${isTold ? "" : "not "}told`, () => {
      const change = { key: "x/web", ...(before && { before }), ...(after && { after }) };

      assert.equal(isFetchFailure(change), isTold);
    });
  }
});

test("what a Bundle's charts came to is a change of its own, and nothing else of its status is", () => {
  const pins = [{ repo: "r", chart: "c", version: "~1", pin: httpPin("1.2.9") }];
  const bundle = aBundle();
  const pinned = aBundle({}, {}, { pins });
  const key = "x/web";

  assert.equal(isPinChange({ key, before: bundle, after: pinned }), true);
  assert.equal(isPinChange({ key, before: pinned, after: aBundle({}, {}, { pins: [] }) }), true);
  assert.equal(
    isPinChange({ key, before: pinned, after: aBundle({}, {}, { pins, unavailable: 1 }) }),
    false,
  );
});
