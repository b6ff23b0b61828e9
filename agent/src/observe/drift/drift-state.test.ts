import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { correctionsOf, correctionWindowMs } from "./back-off.ts";
import { type ForeignField, type ObjectDrift, objectKey } from "./drift.ts";
import {
  type DriftState,
  initialState,
  newDrift,
  nothingKept,
  withBackedOff,
  withComparison,
  withCorrection,
  withFailure,
  withProgress,
  withRequest,
  withUncompared,
} from "./drift-state.ts";

const atMs = Date.UTC(2026, 10, 23, 12);
const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "config" };
const key = objectKey(object);
const drift: ObjectDrift = { object, what: "changed", fields: [{ pointer: "/data/a" }] };
const start = initialState(nothingKept);
const drifted = compared(start, drift);

function compared(
  state: DriftState,
  found: ObjectDrift | undefined,
  foreign: readonly ForeignField[] = [],
): DriftState {
  const comparison = { ...(found !== undefined && { drift: found }), foreign };
  return withComparison(state, key, { comparison, nowMs: atMs });
}

function added(pointer: string): ForeignField {
  return { object, pointer, manager: "kubectl-edit" };
}

/** The results of the history, the newest first. */
function resultsOf({ history }: DriftState): string {
  return history.map(({ result }) => result).join(" ");
}

function failed(state: DriftState, failedAtMs: number): DriftState {
  return withFailure(state, key, { drift, message: "forbidden", atMs, failedAtMs });
}

function corrected(state: DriftState, found: ObjectDrift | undefined = drift): DriftState {
  return withCorrection(state, key, { drift: found, isRequested: false, atMs });
}

describe("a comparison", () => {
  test("that finds an object as it is known changes nothing", () => {
    assert.equal(compared(start, undefined), start);
    assert.equal(compared(drifted, { ...drift }), drifted);
  });

  test("of an object that could not be compared before is a change, also where the object is as desired", () => {
    const next = compared(withUncompared(start, key, "forbidden"), undefined);

    assert.deepEqual([...next.uncompared], []);
    assert.notEqual(next, start);
  });

  test("that finds drift is in the history, once for the same changes", () => {
    assert.equal(resultsOf(drifted), "Detected");
    const other = compared(drifted, { ...drift, fields: [{ pointer: "/data/b" }] });
    assert.equal(resultsOf(other), "Detected Detected");
    assert.equal(resultsOf(compared(drifted, drift, [added("/data/x")])), "Foreign Detected");
  });

  test("finds as new what was not known, or known with other changes", () => {
    const changed = { drift: { ...drift, fields: [{ pointer: "/data/b" }] }, foreign: [] };
    assert.equal(newDrift(start, key, { drift, foreign: [] }), drift);
    assert.equal(newDrift(drifted, key, { drift: { ...drift }, foreign: [] }), undefined);
    assert.equal(newDrift(drifted, key, changed), changed.drift);
    assert.equal(newDrift(drifted, key, { foreign: [] }), undefined);
  });

  test("that finds an object as desired ends its failed corrections", () => {
    const state = failed(drifted, atMs);

    assert.equal(compared(state, { ...drift, what: "missing" }).failed.get(key)?.count, 1);
    assert.deepEqual([...compared(state, undefined).failed], []);
  });

  test("leaves what it was made of as it was", () => {
    compared(failed(drifted, atMs), undefined, [added("/data/x")]);

    assert.deepEqual(drifted, compared(start, drift));
  });
});

describe("fields that others have added", () => {
  test("are in the history once while they stay", () => {
    const first = compared(start, undefined, [added("/data/x")]);
    const again = compared(first, drift, [added("/data/x")]);

    assert.equal(resultsOf(first), "Foreign");
    assert.equal(resultsOf(again), "Detected Foreign");
  });

  test("are in it again once they were gone", () => {
    const gone = compared(compared(start, undefined, [added("/data/x")]), undefined);
    const again = compared(gone, undefined, [added("/data/x")]);

    assert.deepEqual([...gone.foreign], []);
    assert.equal(resultsOf(again), "Foreign Foreign");
  });

  test("survive an upgrade, as the history does and results do not", () => {
    const before = compared(start, drift, [added("/data/x")]);
    const after = initialState(before);

    assert.deepEqual([after.comparisons.size, after.history], [0, before.history]);
    assert.equal(resultsOf(compared(after, undefined, [added("/data/x")])), "Foreign Detected");
  });
});

describe("an object that cannot be compared", () => {
  test("keeps what was known of it", () => {
    const next = withUncompared(drifted, key, "forbidden");

    assert.equal(next.comparisons, drifted.comparisons);
    assert.equal(next.uncompared.get(key), "forbidden");
  });

  test("is a change only if the reason is another one", () => {
    const state = withUncompared(start, key, "forbidden");

    assert.equal(withUncompared(state, key, "forbidden"), state);
    assert.notEqual(withUncompared(state, key, "invalid"), state);
  });
});

describe("a correction", () => {
  test("leaves the object as desired, with what others have added", () => {
    const next = corrected(failed(compared(start, drift, [added("/data/x")]), atMs));

    assert.deepEqual(next.comparisons.get(key), { foreign: [added("/data/x")] });
    assert.deepEqual([...next.failed], []);
    assert.match(resultsOf(next), /Corrected/);
  });

  test("counts against the object for as long as the back-off looks at it", () => {
    const [old, recent] = [correctionWindowMs, correctionWindowMs - 1].map((ago) =>
      correctionsOf(drift, atMs - ago),
    );
    const corrections = [...(old ?? []), ...(recent ?? [])];
    const next = corrected({ ...drifted, corrections });

    assert.deepEqual(
      next.corrections.map((each) => atMs - each.atMs),
      [correctionWindowMs - 1, 0],
    );
  });

  test("that a user has requested does not count", () => {
    const next = withCorrection(drifted, key, { drift, isRequested: true, atMs });

    assert.deepEqual(next.corrections, []);
    assert.equal(resultsOf(next), "Corrected");
  });

  test("of an object that is as desired by then counts for nothing", () => {
    const state = withRequest(drifted, "one");
    const next = withCorrection(state, key, { drift: undefined, isRequested: true, atMs });

    assert.deepEqual(next.comparisons.get(key), { foreign: [] });
    assert.deepEqual([next.history, next.request], [state.history, state.request]);
  });

  test("that fails is retried later each time, at most every ten minutes", () => {
    const rows = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000];
    let state = drifted;
    for (const [index, delayMs] of rows.entries()) {
      const failedAtMs = atMs + index;
      state = failed(state, failedAtMs);
      assert.equal(state.failed.get(key)?.retryAtMs, failedAtMs + delayMs);
    }
    assert.equal(state.failed.get(key)?.count, rows.length);
    assert.equal(resultsOf(state), "CorrectionFailed");
  });

  test("that is backed off is in the history", () => {
    const backedOff = [{ drift, pointer: "/data/a", untilMs: atMs }];

    assert.equal(withBackedOff(drifted, [], atMs), drifted);
    assert.equal(resultsOf(withBackedOff(drifted, backedOff, atMs)), "BackedOff");
  });
});

describe("the request of a user", () => {
  const requested = withRequest(drifted, "one");

  test("starts at nothing, and is the same with the same token", () => {
    const progressed = withProgress(requested, "one", { isCompared: true });

    assert.deepEqual(requested.request, {
      token: "one",
      isCompared: false,
      isCorrected: false,
      corrected: 0,
    });
    assert.equal(withRequest(progressed, "one"), progressed);
    assert.equal(withRequest(progressed, "two").request?.isCompared, false);
  });

  test("counts what was corrected since", () => {
    assert.equal(corrected(corrected(requested)).request?.corrected, 2);
    assert.equal(corrected(drifted).request, undefined);
  });

  test("is not changed by the end of an earlier one", () => {
    assert.equal(withProgress(requested, "zero", { isCompared: true }), requested);
    assert.equal(withProgress(requested, "one", { isCorrected: true }).request?.isCorrected, true);
  });

  test("ends with the revision", () => {
    assert.equal(initialState(requested).request, undefined);
  });
});
