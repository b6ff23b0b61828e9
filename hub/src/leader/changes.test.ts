import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { describe, test } from "vitest";
import { aBundle, aDeployment, httpPin } from "../testing/objects.ts";
import { isFetchFailure, isFetchMended, isPinChange } from "./changes.ts";

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
    news: "told" | "over" | "neither",
  ])[] = [
    ["for the first time", aDeployment("paris"), first, "told"],
    ["by a deployment that is seen for the first time", undefined, first, "told"],
    ["once more", first, failed("ChartNotFetched", "404; it is tried again at 10:05"), "told"],
    ["after another failure", failed("Error", "no"), first, "told"],
    ["in a change of something else", first, { ...first, spec: { ...first.spec } }, "neither"],
    ["no more", first, aDeployment("paris"), "over"],
    ["and something else fails now", first, failed("Error", "no"), "over"],
    ["by what failed otherwise", aDeployment("paris"), failed("Error", "no"), "neither"],
    ["by what is gone", first, undefined, "over"],
  ];
  for (const [what, before, after, news] of cases) {
    test(`${what}: ${news}`, () => {
      const change = { key: "x/web", ...(before && { before }), ...(after && { after }) };

      assert.equal(isFetchFailure(change), news === "told");
      assert.equal(isFetchMended(change), news === "over");
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
