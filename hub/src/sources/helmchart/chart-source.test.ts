import assert from "node:assert/strict";
import type { Change } from "@flotilla/shared/kube/cache";
import { describe, test } from "vitest";
import type { SourceObject } from "../fluxsource/source-status.ts";
import { concernsCharts } from "./chart-source.ts";

function aSource(revision: string | undefined, more: Partial<SourceObject> = {}): SourceObject {
  const artifact = { digest: "", url: "", path: "", lastUpdateTime: "" };
  return {
    metadata: { namespace: "apps", name: "charts", uid: "u-1", generation: 1 },
    ...(revision !== undefined && { status: { artifact: { ...artifact, revision } } }),
    ...more,
  };
}

const before = aSource("one");
const readAgain = aSource("one", {
  status: { ...before.status, polling: { nextAttemptTime: "2026-01-01T00:00:00Z" } },
});

describe("the charts of a source are resolved again", () => {
  const cases: readonly (readonly [string, Omit<Change<SourceObject>, "key">, boolean])[] = [
    ["when it is created", { after: before }, true],
    ["when it is deleted", { before }, true],
    ["when it gets its first artifact", { before: aSource(undefined), after: before }, true],
    ["when it has another revision", { before, after: aSource("two") }, true],
    [
      "when its spec was changed",
      { before, after: aSource("one", { metadata: { ...before.metadata, generation: 2 } }) },
      true,
    ],
    ["not when it was read and has the same", { before, after: readAgain }, false],
  ];
  for (const [what, change, expected] of cases)
    test(what, () => {
      const revisionOf = ({ status }: SourceObject) => status?.artifact?.revision;
      assert.equal(concernsCharts({ key: "apps/charts", ...change }, revisionOf), expected);
    });
});
