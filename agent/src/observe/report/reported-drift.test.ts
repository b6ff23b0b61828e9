import assert from "node:assert/strict";
import { test } from "vitest";
import { toReportedDrift } from "./reported-drift.ts";

const unset = { mode: "warn", isChosen: false } as const;
const object = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };

test("nothing is reported without drift and without a history", () => {
  assert.deepEqual(toReportedDrift({ ...unset, objects: [], history: [] }), {});
});

test("the first objects are reported, with their first fields and who changed them last", () => {
  const pointers = ["/a", "/b", "/c", "/d", "/e"];
  const fields = pointers.map((pointer, index) => ({
    ...{ pointer, manager: `manager-${index % 2}`, time: `2026-11-0${index + 1}T00:00:00Z` },
  }));
  const drifted = { object, what: "changed" as const, fields, patch: "[]" };
  const missing = { object, what: "missing" as const, fields: [] };
  const event = { atMs: 0, object, fields: ["/a"], result: "Detected" as const };

  const { drift } = toReportedDrift({
    ...unset,
    objects: [drifted, ...Array.from({ length: 11 }, () => missing)],
    history: [event],
  });

  assert.equal(drift?.count, 12);
  assert.equal(drift.objects.length, 10);
  assert.deepEqual(drift.objects[0], {
    ...{ ...object, missing: false, patch: "[]", fields: ["/a", "/b", "/c", "/d"] },
    ...{ manager: "manager-0", time: "2026-11-05T00:00:00Z" },
  });
  assert.deepEqual(drift.objects[1], { ...object, missing: true, patch: "", fields: [] });
  assert.deepEqual(drift.history, [
    { ...object, time: "1970-01-01T00:00:00Z", fields: ["/a"], result: "Detected" },
  ]);
});

test("it is a warning only where a user has asked for that", () => {
  const objects = [{ object, what: "missing" as const, fields: [] }];
  const cases = [
    [{ mode: "warn", isChosen: false }, undefined],
    [{ mode: "warn", isChosen: true }, true],
    [{ mode: "enabled", isChosen: true }, undefined],
  ] as const;
  for (const [options, expected] of cases)
    assert.equal(
      toReportedDrift({ ...options, objects, history: [] }).drift?.isWarning,
      expected,
      JSON.stringify(options),
    );
});
