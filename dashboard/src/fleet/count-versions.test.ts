import assert from "node:assert/strict";
import type { App } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { countVersions, mixedFirst, previousVersion } from "./count-versions.ts";
import type { Row } from "./fleet-state.ts";

/** A cluster for each version; undefined: it has no release, "": it is not installed yet. */
function rowOf(...versions: readonly (string | undefined)[]): Row {
  const names = [...new Set(versions.filter((each) => each !== undefined && each !== ""))];
  return {
    versions: names.filter((name) => name !== undefined),
    states: Uint8Array.from(versions, (version) => (version === undefined ? 0 : 1)),
    versionOf: Uint16Array.from(versions, (version) => names.indexOf(version) + 1),
  };
}

const counted = (row: Row) => countVersions(row).map(({ version, count }) => [version, count]);

describe("the versions of an app", () => {
  test("are counted, the newest first, clusters without the app left out", () => {
    const row = rowOf("1.9.0", "1.10.0", undefined, "1.9.0", "");
    assert.deepEqual(counted(row), [
      ["1.10.0", 1],
      ["1.9.0", 2],
      ["", 1],
    ]);
    assert.deepEqual(countVersions(undefined), []);
  });

  const rows: readonly (readonly [string, Row | undefined, string | undefined])[] = [
    ["is what most of the others have", rowOf("2", "1.8", "1.9", "1.9"), "1.9"],
    ["is none when all have the new one", rowOf("2", "2"), undefined],
    ["is none for a first installation", rowOf("", "2", undefined), undefined],
    ["is none where nothing is known", undefined, undefined],
  ];
  for (const [name, row, expected] of rows)
    test(`before an upgrade ${name}`, () => {
      assert.equal(previousVersion(row, "2"), expected);
    });

  test("come first where clusters differ most", () => {
    const app = (name: string) => ({ kind: "HelmOp", namespace: "ns", name }) as App;
    const all = [
      { app: app("same"), counts: countVersions(rowOf("1", "1", "1")) },
      { app: app("few"), counts: countVersions(rowOf("1", "2")) },
      { app: app("many"), counts: countVersions(rowOf("1", "2", "2")) },
      { app: app("alone"), counts: countVersions(rowOf("1")) },
    ];
    assert.deepEqual(
      mixedFirst(all).map(({ app: { name } }) => name),
      ["many", "few", "same", "alone"],
    );
  });
});
