import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { readChartEntries } from "./index-entry.ts";

const good = { name: "x", version: "1.0.0", urls: ["x-1.0.0.tgz"] };

describe("the entries of a chart", () => {
  it("have the fields that resolving needs", () => {
    const raw = {
      ...good,
      digest: "AB".repeat(32),
      created: "2026-01-01T00:00:00Z",
      deprecated: "true",
      appVersion: "9",
      icon: "…",
    };

    const { entries, problems } = readChartEntries("x", [raw]);

    assert.deepEqual(entries, [
      {
        version: "1.0.0",
        urls: ["x-1.0.0.tgz"],
        digest: `sha256:${"ab".repeat(32)}`,
        created: "2026-01-01T00:00:00Z",
        deprecated: true,
        appVersion: "9",
      },
    ]);
    assert.deepEqual(problems, []);
  });

  const broken: readonly (readonly [name: string, raw: unknown, problem: RegExp])[] = [
    ["nothing", null, /entry 2 of x is empty/],
    ["text", "null", /not a map/],
    ["a list", [], /not a map/],
    ["no version", { name: "x", urls: [] }, /has no version/],
    ["a number for a version", { ...good, version: 1.1 }, /not text/],
    ["an invalid version", { ...good, version: "latest" }, /has the version "latest"/],
    ["no name", { version: "1.0.0", urls: [] }, /has no valid name of a chart/],
    ["a name with a slash", { ...good, name: "../x" }, /has no valid name of a chart/],
  ];
  for (const [name, raw, problem] of broken) {
    it(`exclude ${name}, and no other entry`, () => {
      const { entries, problems } = readChartEntries("x", [
        good,
        raw,
        { ...good, version: "2.0.0" },
      ]);

      assert.deepEqual(
        entries.map(({ version }) => version),
        ["1.0.0", "2.0.0"],
      );
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? "", problem);
    });
  }

  it("ignore a digest of another algorithm, and report it", () => {
    const { entries, problems } = readChartEntries("x", [
      { ...good, digest: "sha1:00" },
      { ...good, digest: "" },
    ]);

    assert.deepEqual(
      entries.map(({ digest, problem }) => [digest, problem !== undefined]),
      [
        [undefined, true],
        [undefined, false],
      ],
    );
    assert.equal(problems.length, 1);
  });

  it("report a bounded number of problems", () => {
    const { problems } = readChartEntries("x", new Array(1000).fill(null));

    assert.equal(problems.length, 11);
    assert.match(problems.at(-1) ?? "", /990 more/);
  });

  it("are empty when there is no list", () => {
    assert.deepEqual(readChartEntries("x", null), { entries: [], problems: [] });
    assert.deepEqual(readChartEntries("x", {}).problems, ["x: not a list of versions"]);
  });
});
