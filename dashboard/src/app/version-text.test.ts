import assert from "node:assert/strict";
import { test } from "vitest";
import { versionText } from "./version-text.ts";

test.each([
  [{ clusters: 3, current: 3, failed: 0 }, "installed on 3 clusters, running on 3"],
  [{ clusters: 1, current: 0, failed: 0 }, "installed on 1 cluster, replaced on all of them"],
  [
    { clusters: 3, current: 2, failed: 1 },
    "installed on 2 clusters, running on 2; failed on 1 cluster",
  ],
  [
    { clusters: 2, current: 2, failed: 0, notReady: 1 },
    "installed on 2 clusters, running on 2; not ready on 1 of them",
  ],
  // It was never installed.
  [{ clusters: 1, current: 0, failed: 1 }, "failed on 1 cluster"],
] as const)("%o", (record, expected) => {
  assert.equal(versionText(record), expected);
});
