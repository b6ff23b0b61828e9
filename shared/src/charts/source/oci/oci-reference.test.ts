import assert from "node:assert/strict";
import { describe, onTestFinished, test, vi } from "vitest";
import { AppError } from "../../../runtime/errors/index.ts";
import { createPatterns } from "../../../text/regex/index.ts";
import {
  chartVersionOf,
  chooseTag,
  formatRevision,
  helmChartLayer,
  type TagQuery,
} from "./oci-reference.ts";

const hex = "0123456789ab".padEnd(64, "c");
const digest = `sha256:${hex}`;

test("a revision is the tag with the digest, or the digest alone", () => {
  assert.equal(formatRevision({ digest, tag: "latest" }), `latest@${digest}`);
  assert.equal(formatRevision({ digest }), digest);
});

describe("the tag of a constraint", () => {
  const tags = [
    ...["1.0.0", "v1.2.0", "1.10.0", "2.0.0-rc.1", "1.9.0_b1", "1.2", "latest"],
    ...["1.3.0-alpine", "1.4.0-alpine"],
  ];
  const cases: readonly (readonly [string, TagQuery, string])[] = [
    ["is that of the highest version", { semver: ">=1.0.0" }, "1.10.0"],
    ["keeps a leading v", { semver: "~1.2" }, "v1.2.0"],
    ["is not a tag with fewer than three numbers", { semver: "<=1.2.0" }, "v1.2.0"],
    [
      "is of the tags that the filter selects",
      { semver: ">=1.0.0-0", semverFilter: "-alpine$" },
      "1.4.0-alpine",
    ],
    [
      "has _ for + with the layer of a Helm chart",
      { semver: "~1.9", mediaType: helmChartLayer },
      "1.9.0_b1",
    ],
  ];
  for (const [what, query, tag] of cases)
    test(what, async () => assert.equal(await chooseTag(tags, query, createPatterns()), tag));

  const rejected: readonly (readonly [string, TagQuery, RegExp])[] = [
    [
      "that no tag satisfies is an error with the highest",
      { semver: "~1.9" },
      /no match found for semver: ~1\.9: the registry lists 9 tags, the highest versions are 2\.0/,
    ],
    [
      "with an invalid filter is an error",
      { semver: "*", semverFilter: "(" },
      /spec\.ref\.semverFilter/,
    ],
    ["that is invalid is an error", { semver: "newest" }, /newest/],
  ];
  for (const [what, query, message] of rejected)
    test(what, () => assert.rejects(chooseTag(tags, query, createPatterns()), message));
});

describe("the tag of a constraint in a large repository", () => {
  const tags = Array.from({ length: 20_000 }, (_, at) => `1.0.${at}-${"ab".repeat(55)}`);

  test("is found with few comparisons of the filter, and lets others have their turn", async () => {
    // Each look at the clock finds 10 ms more, so that the work is long on a fast machine, too.
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 10));
    onTestFinished(() => clock.mockRestore());
    const turns = countTurns();

    const tag = await chooseTag(tags, { semver: ">=0-0", semverFilter: "^1" }, createPatterns());

    assert.equal(tag, tags.at(-1));
    assert.ok(turns.stop() > 1);
  });

  // Each comparison takes up to 15 ms, so those of 100,000 tags up to half an hour.
  test("is not looked for any longer than a filter may take, and lets others have their turn", async () => {
    const turns = countTurns();
    const semverFilter = "(a?b?){450}[ab]{0,450}c$";

    await assert.rejects(chooseTag(tags, { semver: ">=0-0", semverFilter }, createPatterns()), {
      code: "CHART_SOURCE_INVALID",
      message: /^spec\.ref\.semverFilter takes too long for all tags of the repository: /,
    });
    // However fast the machine is: without a pause there is no turn at all.
    assert.ok(turns.stop() > 0);
  });
});

/** Counts the iterations of the event loop. */
function countTurns() {
  let turns = 0;
  let isRunning = true;
  const next = (): void => {
    turns += 1;
    if (isRunning) setImmediate(next);
  };
  setImmediate(next);
  return {
    stop() {
      isRunning = false;
      return turns;
    },
  };
}

describe("the version of a chart from an artifact", () => {
  const cases: readonly (readonly [version: string, tag: string | undefined, result: string])[] = [
    ["1.2.3", "latest", "1.2.3+0123456789ab"],
    ["1.2.3", undefined, "1.2.3+0123456789ab"],
    ["1.2.3", "1.2.3", "1.2.3+0123456789ab"],
    ["1.2.3", "v1.2.3", "1.2.3+0123456789ab"],
    ["v1.2.3", "1.2.3", "1.2.3+0123456789ab"],
    ["1.2.3+b1", "1.2.3_b1", "1.2.3+0123456789ab"],
    ["1.2.3-rc.1", "1.2.3-rc.1", "1.2.3-rc.1+0123456789ab"],
  ];
  for (const [version, tag, result] of cases)
    test(`of ${version} with the tag ${tag ?? "none"} is ${result}`, () =>
      assert.equal(chartVersionOf(version, { digest, tag }), result));

  test("is an error when the tag is another version", () => {
    const version = chartVersionOf("1.2.3", { digest, tag: "1.2.4" });
    assert.ok(version instanceof AppError);
    assert.equal(version.message, "artifact revision 1.2.4 does not match chart version 1.2.3");
  });
});
