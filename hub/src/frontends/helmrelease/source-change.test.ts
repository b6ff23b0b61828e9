import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { SourceObject } from "../../sources/fluxsource/source-status.ts";
import { now } from "../../testing/index.ts";
import { isReadAgain, isSettled } from "./source-change.ts";

const artifact = { revision: "1", digest: "d", url: "", path: "", lastUpdateTime: now };

/** Its generation, that of its artifact, and `True 2`: Ready with its generation. */
function source(generation: number, observedGeneration: number, ready: string): SourceObject {
  const [status, of] = ready.split(" ");
  const isKnown = status === "True" || status === "False" || status === "Unknown";
  return {
    metadata: { name: "web", namespace: "apps", generation },
    status: {
      ...{ observedGeneration, artifact },
      ...(isKnown && {
        conditions: [{ type: "Ready", status, reason: "x", observedGeneration: Number(of) }],
      }),
    },
  };
}

const read = source(1, 1, "True 1");
const failing = source(1, 1, "False 1");
const changed = source(2, 1, "True 1");
const progressing = source(2, 1, "Unknown 2");
const readAgain = source(2, 2, "True 2");
const failed = source(2, 1, "False 2");
const created: SourceObject = { metadata: { name: "web", namespace: "apps", generation: 1 } };

describe("HelmReleases are reconciled", () => {
  const rows: readonly (readonly [
    what: string,
    before: SourceObject | undefined,
    after: SourceObject | undefined,
    settled: boolean,
    again: boolean,
  ])[] = [
    ["not for a source that was not read yet", undefined, created, false, false],
    ["for a source that has something", created, read, true, true],
    ["for another revision of it", read, read, true, false],
    ["for a source that can no longer be read", read, failing, true, false],
    ["not for another spec of it", read, changed, false, false],
    ["not while that is read", changed, progressing, false, false],
    ["when that was read", progressing, readAgain, true, true],
    ["when that cannot be read", progressing, failed, true, false],
    ["when it is suspended at once", read, readAgain, true, true],
    ["when it is deleted", read, undefined, true, false],
  ];
  test.each(rows)("%s", (_, before, after, settled, again) => {
    const change = { key: "apps/web", ...(before && { before }), ...(after && { after }) };
    assert.deepEqual([isSettled(change), isReadAgain(change)], [settled, again]);
  });
});
