import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { ReleaseRecord } from "../../helm/index.ts";
import { replacedRecord } from "./installed-release.ts";

describe("the revision that Helm replaces", () => {
  const cases: readonly (readonly [string, readonly string[], number | undefined])[] = [
    ["of a release that does not exist is none", [], undefined],
    ["is the newest", ["superseded", "deployed"], 2],
    ["is the last that was deployed, after a failure", ["deployed", "failed", "failed"], 1],
    ["is the newest where none was deployed", ["failed", "failed"], 2],
    ["of a release that was uninstalled is none", ["superseded", "uninstalled"], undefined],
    ["is the newest of several that are deployed", ["deployed", "deployed", "failed"], 2],
  ];
  for (const [name, statuses, expected] of cases)
    test(name, () => {
      const history = statuses.map(
        (status, index): ReleaseRecord => ({
          ...{ namespace: "shop", name: "web", revision: index + 1, status },
          ...{ isOwn: true, modifiedAtMs: 0 },
        }),
      );

      assert.equal(replacedRecord(history)?.revision, expected);
      assert.equal(replacedRecord(history.toReversed())?.revision, expected);
    });
});
