import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { DriftEvent, DriftResult, ObjectDrift } from "./drift.ts";
import { driftEvent, foreignEvents, withEvent } from "./drift-history.ts";

const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "config" };

function drift(pointer: string): ObjectDrift {
  return { object, what: "changed", fields: [{ pointer }, { pointer: "/b", manager: "someone" }] };
}

function after(
  ...events: readonly (readonly [pointer: string, atMs: number, result: DriftResult])[]
): readonly string[] {
  const history = events.reduce<readonly DriftEvent[]>(
    (known, [pointer, atMs, result]) => withEvent(known, driftEvent(drift(pointer), atMs, result)),
    [],
  );
  return history.map(({ atMs, fields, result }) => `${atMs} ${fields[0]} ${result}`);
}

describe("the history of drift", () => {
  test("has what was changed and by whom", () => {
    assert.deepEqual(driftEvent(drift("/a"), 1, "Detected"), {
      ...{ atMs: 1, object, fields: ["/a", "/b"], manager: "someone", result: "Detected" },
    });
  });

  test("has one entry for a change that is corrected, and another for the next one", () => {
    assert.deepEqual(after(["/a", 1, "Detected"], ["/a", 2, "Corrected"], ["/a", 3, "Detected"]), [
      "3 /a Detected",
      "1 /a Corrected",
    ]);
  });

  test("has one entry for corrections that fail, also beside another change", () => {
    assert.deepEqual(
      after(
        ["/a", 1, "Detected"],
        ["/c", 2, "Detected"],
        ["/a", 3, "CorrectionFailed"],
        ["/a", 4, "CorrectionFailed"],
      ),
      ["2 /c Detected", "1 /a CorrectionFailed"],
    );
  });

  test("keeps the newest five", () => {
    const many = [1, 2, 3, 4, 5, 6].map((at) => [`/${at}`, at, "Detected"] as const);

    assert.deepEqual(after(...many).at(-1), "2 /2 Detected");
  });
});

test("added fields are one entry for each manager, with the time of the last", () => {
  const fields = [
    { object, pointer: "/data/a", manager: "one", time: "2026-11-01T00:00:00Z" },
    { object, pointer: "/data/b", manager: "one", time: "2026-11-02T00:00:00Z" },
    { object, pointer: "/data/c", manager: "two" },
  ];

  assert.deepEqual(foreignEvents(fields, 7), [
    {
      ...{ object, manager: "one", result: "Foreign", atMs: Date.UTC(2026, 10, 2) },
      fields: ["/data/a", "/data/b"],
    },
    { object, manager: "two", result: "Foreign", atMs: 7, fields: ["/data/c"] },
  ]);
});
