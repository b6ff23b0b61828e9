import assert from "node:assert/strict";
import type { App } from "@flotilla/shared/dashboard";
import { stateCharacters } from "@flotilla/shared/dashboard/states";
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

  test("are ordered as versions where some have no version's form, which come first", () => {
    const row = rowOf("", "1.9.0", "nightly", "1.10.0", "1.10.0-rc.1");
    assert.deepEqual(
      countVersions(row).map(({ version }) => version),
      ["nightly", "1.10.0", "1.10.0-rc.1", "1.9.0", ""],
    );
  });

  test("are unknown on clusters that are offline before they have reported one", () => {
    const row = rowOf("", "");
    row.states.set(
      [stateCharacters.Offline, stateCharacters.WaitApplied].map((each) => each.charCodeAt(0)),
    );

    assert.deepEqual(countVersions(row), [{ version: "", count: 2, notReady: 1, offline: 1 }]);
  });

  test("are counted where they are not up: they have failed, or are in progress", () => {
    const row = rowOf("2", "2", "2", "1");
    const { NotReady, OutOfSync, Modified, ErrApplied } = stateCharacters;
    row.states.set([NotReady, OutOfSync, Modified, ErrApplied].map((each) => each.charCodeAt(0)));

    assert.deepEqual(countVersions(row), [
      { version: "2", count: 3, notReady: 2, offline: 0 },
      { version: "1", count: 1, notReady: 1, offline: 0 },
    ]);
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

  test("come first where clusters differ most, then where they are not ready", () => {
    const app = (name: string) => ({ kind: "HelmOp", namespace: "ns", name }) as App;
    const failing = rowOf("1");
    failing.states[0] = stateCharacters.NotReady.charCodeAt(0);
    const all = [
      { app: app("same"), counts: countVersions(rowOf("1", "1", "1")) },
      { app: app("few"), counts: countVersions(rowOf("1", "2")) },
      { app: app("many"), counts: countVersions(rowOf("1", "2", "2")) },
      { app: app("alone"), counts: countVersions(rowOf("1")) },
      { app: app("failing"), counts: countVersions(failing) },
    ];
    assert.deepEqual(
      mixedFirst(all).map(({ app: { name } }) => name),
      ["many", "few", "failing", "same", "alone"],
    );
  });
});
