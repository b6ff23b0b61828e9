import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { correctionsOf } from "./back-off.ts";
import { describeDrift } from "./describe-drift.ts";
import { type ObjectComparison, type ObjectDrift, objectKey } from "./drift.ts";
import { driftEvent } from "./drift-history.ts";
import { type DriftFacts, releaseDrift } from "./release-drift.ts";

const nowMs = Date.UTC(2026, 10, 23, 12);
const config = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "config" };
const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const changed: ObjectDrift = {
  ...{ object: web, what: "changed" },
  fields: [
    { pointer: "/spec/replicas", manager: "kubectl-scale", time: "2026-11-23T11:00:00Z" },
    { pointer: "/spec/paused" },
    { pointer: "/spec/a" },
  ],
};
const missing: ObjectDrift = { object: config, what: "missing", fields: [] };
const foreign = [{ object: config, pointer: "/data/x", manager: "kubectl-edit", time: "t" }];

function find(
  comparisons: readonly ObjectComparison[],
  facts: Partial<DriftFacts> = {},
): ReturnType<typeof releaseDrift> {
  return releaseDrift({
    ...{ options: { mode: "enabled" }, failed: new Map(), history: [], corrections: [], nowMs },
    uncompared: new Map(),
    order: () => [objectKey(config), objectKey(web)],
    comparisons: new Map(
      comparisons.map((each, index) => [
        each.drift === undefined ? String(index) : objectKey(each.drift.object),
        each,
      ]),
    ),
    ...facts,
  });
}

const both = [
  { drift: changed, foreign: [] },
  { drift: missing, foreign: [] },
];

describe("the drift of a release", () => {
  test("is corrected in the order of Helm", () => {
    const { objects, correctable, corrects } = find(both);

    assert.deepEqual(objects, [missing, changed]);
    assert.deepEqual(correctable, [missing, changed]);
    assert.equal(corrects, true);
  });

  test("is not corrected unless that is enabled", () => {
    for (const options of [{}, { mode: "warn" as const }]) {
      const { objects, corrects, nextAtMs } = find(both, { options });

      assert.deepEqual([objects.length, corrects, nextAtMs], [2, false, undefined]);
    }
  });

  test("is not corrected again before the time of its retry", () => {
    const failure = { count: 1, message: "no", retryAtMs: nowMs + 1 };
    const failed = new Map([[objectKey(web), failure]]);

    const { correctable, nextAtMs } = find(both, { failed });

    assert.deepEqual([correctable, nextAtMs], [[missing], nowMs + 1]);
    assert.deepEqual(find(both, { failed, nowMs: nowMs + 1 }).correctable.length, 2);
  });

  test("backs off, and says until when", () => {
    const corrections = [1, 2, 3].flatMap((ago) => correctionsOf(missing, nowMs - ago));

    const { correctable, backedOff, nextAtMs } = find(both, { corrections });

    assert.deepEqual(correctable, [changed]);
    assert.deepEqual(
      backedOff.map(({ drift }) => drift),
      [missing],
    );
    assert.equal(nextAtMs, nowMs - 3 + 600_000);
  });
});

describe("what is said of the drift of a release", () => {
  const corrections = [1, 2, 3].flatMap((ago) =>
    correctionsOf({ ...changed, fields: changed.fields.slice(0, 1) }, nowMs - ago * 60_000),
  );
  const failed = new Map([[objectKey(web), { count: 1, message: "forbidden", retryAtMs: 0 }]]);
  const history = [driftEvent(changed, nowMs, "Corrected")];
  const cases: readonly (readonly [
    what: string,
    comparisons: readonly ObjectComparison[],
    facts: Partial<DriftFacts>,
    expected: string | undefined,
  ])[] = [
    ["without any that nobody has asked for", [], { options: {} }, undefined],
    ["without any", [], {}, "False NoDriftDetected the objects are as desired"],
    [
      "with fields of others",
      [{ foreign }],
      { options: {} },
      "False NoDriftDetected the objects are as desired; kept: ConfigMap shop/config /data/x, added by kubectl-edit at t",
    ],
    [
      "of which nothing is known",
      [],
      { options: {}, uncompared: new Map([["a", "403 Forbidden"]]) },
      "False NoDriftDetected the other objects are as desired; 1 object could not be compared: 403 Forbidden",
    ],
    [
      "with changes",
      both,
      {},
      "True DriftDetected ConfigMap shop/config is missing; Deployment shop/web: /spec/replicas was changed by kubectl-scale at 2026-11-23T11:00:00Z, /spec/paused was changed, 1 more fields",
    ],
    [
      "that was corrected",
      [],
      { history },
      "False DriftCorrected corrected Deployment shop/web: /spec/replicas, /spec/paused, /spec/a changed by kubectl-scale",
    ],
    [
      "that could not be corrected",
      both.slice(1),
      { failed: new Map([[objectKey(config), { count: 1, message: "forbidden", retryAtMs: 0 }]]) },
      "True DriftCorrectionFailed ConfigMap shop/config is missing; ConfigMap shop/config was not corrected: forbidden",
    ],
    [
      "of two controllers that fight",
      [{ drift: { ...changed, fields: changed.fields.slice(0, 1) }, foreign: [] }],
      { corrections, failed: new Map([...failed].slice(1)) },
      "True DriftDetected Deployment shop/web: /spec/replicas was changed by kubectl-scale at 2026-11-23T11:00:00Z; /spec/replicas was corrected three times in ten minutes and kubectl-scale changed it back each time: not corrected before 2026-11-23T12:07:00Z",
    ],
  ];
  for (const [what, comparisons, facts, expected] of cases)
    test(what, () => {
      const text = describeDrift(find(comparisons, facts));

      assert.equal(text && `${text.status} ${text.reason} ${text.message}`, expected);
    });
});
