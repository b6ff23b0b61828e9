/**
 * The releases of the fleet as a matrix, Bundles by clusters: three bytes for each cell, because a fleet has hundreds of
 * thousands of releases, and a reader gets all of them at once.
 */
import {
  firstVersionCode,
  noRelease,
  type ReleaseState,
  releaseStates,
  stateCharacters,
} from "@flotilla/shared/dashboard";
import type { ObjectKey } from "@flotilla/shared/kube/objects";

export interface Cell {
  readonly state: ReleaseState;
  /** The version of the installed chart; "" where none is. */
  readonly version: string;
}

/** A row for some columns, as in the API. */
export interface RowText {
  readonly states: string;
  readonly versions: readonly string[];
  readonly versionOf: string;
}

interface Row {
  /** By column: the code of the state's character, 0 for no release. */
  states: Uint8Array;
  /** By column: the index in `versions`, 0 for none. */
  versionOf: Uint16Array;
  versions: string[];
  size: number;
}

const noCode = noRelease.charCodeAt(0);
/** Versions that are in use at the same time in one row; a further one is shown as none. */
const maxVersions = 1_000;

export function createMatrix() {
  const columns = new Map<ObjectKey, number>();
  const clusters: ObjectKey[] = [];
  const rows = new Map<ObjectKey, Row>();

  function columnOf(cluster: ObjectKey): number {
    const known = columns.get(cluster);
    if (known !== undefined) return known;
    columns.set(cluster, clusters.length);
    return clusters.push(cluster) - 1;
  }

  function rowOf(bundle: ObjectKey, column: number): Row {
    const known = rows.get(bundle) ?? newRow();
    rows.set(bundle, known);
    if (column >= known.states.length) grow(known, Math.max(64, column + 1, clusters.length * 2));
    return known;
  }

  return {
    set(bundle: ObjectKey, cluster: ObjectKey, cell: Cell | undefined): void {
      if (cell === undefined && !rows.has(bundle)) return;
      const column = columnOf(cluster);
      const row = rowOf(bundle, column);
      const had = row.states[column] !== 0;
      row.states[column] = cell === undefined ? 0 : stateCharacters[cell.state].charCodeAt(0);
      row.versionOf[column] = 0;
      if (cell !== undefined) row.versionOf[column] = versionIndex(row, cell.version);
      row.size += (cell === undefined ? 0 : 1) - (had ? 1 : 0);
      if (row.size === 0) rows.delete(bundle);
    },
    /** The Bundles that have releases. */
    bundles: (): Iterable<ObjectKey> => rows.keys(),
    /** The clusters in which any of these Bundles has a release. */
    clustersOf(bundles: Iterable<ObjectKey>): readonly ObjectKey[] {
      const used = new Uint8Array(clusters.length);
      for (const bundle of bundles)
        rows.get(bundle)?.states.forEach((code, column) => {
          if (code !== 0) used[column] = 1;
        });
      return clusters.filter((_, column) => used[column] === 1);
    },
    cell(bundle: ObjectKey, cluster: ObjectKey): Cell | undefined {
      const row = rows.get(bundle);
      const column = columns.get(cluster) ?? -1;
      const state = stateOfCode.get(row?.states[column] ?? 0);
      if (row === undefined || state === undefined) return undefined;
      return { state, version: row.versions[(row.versionOf[column] ?? 0) - 1] ?? "" };
    },
    /** A function that returns the row of a Bundle for these clusters, whose columns are looked up once for all rows. */
    rowsFor(wanted: readonly ObjectKey[]): (bundle: ObjectKey) => RowText {
      const indexes = wanted.map((cluster) => columns.get(cluster) ?? -1);
      return (bundle) => rowText(rows.get(bundle) ?? newRow(), indexes);
    },
  };
}

const stateOfCode: ReadonlyMap<number, ReleaseState> = new Map(
  releaseStates.map((state) => [stateCharacters[state].charCodeAt(0), state]),
);

function rowText(row: Row, columns: readonly number[]): RowText {
  const states = Buffer.alloc(columns.length, noCode);
  const characters: string[] = [];
  const versions: string[] = [];
  const shown = new Map<number, string>();
  for (const [at, column] of columns.entries()) {
    const code = row.states[column] ?? 0;
    if (code !== 0) states[at] = code;
    const version = row.versionOf[column] ?? 0;
    let character = version === 0 ? noRelease : shown.get(version);
    if (character === undefined) {
      character = String.fromCharCode(firstVersionCode + versions.length);
      shown.set(version, character);
      versions.push(row.versions[version - 1] ?? "");
    }
    characters.push(character);
  }
  return { states: states.toString("latin1"), versions, versionOf: characters.join("") };
}

function newRow(): Row {
  return { states: new Uint8Array(0), versionOf: new Uint16Array(0), versions: [], size: 0 };
}

function grow(row: Row, size: number): void {
  const [states, versionOf] = [new Uint8Array(size), new Uint16Array(size)];
  states.set(row.states);
  versionOf.set(row.versionOf);
  row.states = states;
  row.versionOf = versionOf;
}

/** 0 for none. */
function versionIndex(row: Row, version: string): number {
  if (version === "") return 0;
  const known = row.versions.indexOf(version);
  if (known >= 0) return known + 1;
  if (row.versions.length === maxVersions) compactVersions(row);
  return row.versions.length < maxVersions ? row.versions.push(version) : 0;
}

/** Removes the versions that no cell has. */
function compactVersions(row: Row): void {
  const used = [...new Set(row.versionOf)].filter((index) => index !== 0);
  const indexAfter = new Map(used.map((index, at) => [index, at + 1]));
  row.versions = used.map((index) => row.versions[index - 1] ?? "");
  for (const [column, index] of row.versionOf.entries())
    row.versionOf[column] = indexAfter.get(index) ?? 0;
}
