import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { isPlanPath, parsePlanRequest } from "./parse-plan.ts";

const base = "/requests/v1/namespaces/fleet-default";

describe("the address of a plan", () => {
  test("names an app, and what of it is planned", () => {
    assert.deepEqual(parsePlanRequest(`${base}/helmops/web/plan?stage=prod&sample=2`), {
      workspace: "fleet-default",
      kind: "HelmOp",
      name: "web",
      stage: "prod",
      sample: 2,
    });
    assert.equal(
      parsePlanRequest(`${base}/bundles/web/plan?cluster=fleet-default/ams`).cluster,
      "fleet-default/ams",
    );
  });

  test("differs from those of requests to one agent", () => {
    assert.equal(isPlanPath(`${base}/helmops/web/plan?stage=prod`), true);
    assert.equal(isPlanPath(`${base}/helmops/web/diff`), false);
    assert.equal(isPlanPath(`${base}/helmops/plan/diff`), false);
  });

  const invalid: readonly (readonly [string, RegExp])[] = [
    [`${base}/pods/web/plan`, /the address is not/],
    [`${base}/helmops/web/plan?version=1.2.3`, /a plan has no parameter version/],
    [`${base}/helmops/web/plan?stage=a/b`, /the parameter stage is not a name/],
    [`${base}/helmops/web/plan?cluster=..`, /the parameter cluster is not a name/],
    [`${base}/helmops/web/plan?gate=web-7-prod-board&stage=prod`, /gate is together with others/],
    [`${base}/helmops/web/plan?sample=0`, /sample is not a number/],
    [`${base}/helmops/web/plan?sample=1.5`, /sample is not a number/],
  ];
  for (const [url, message] of invalid)
    test(`${url} is rejected`, () => assert.throws(() => parsePlanRequest(url), message));
});
