/** Everything in the repository that is made from something else in it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { allCrds, renderCrd } from "@flotilla/shared/api/crd/crds.ts";
import { apiReference } from "@flotilla/shared/api/reference/api-reference.ts";

import { errorReference } from "./error-reference.ts";
import { root } from "./run.ts";
import { wireTypes } from "./wire-types.ts";

export interface Generator {
  readonly name: string;
  /** A folder that holds nothing but this generator's files, so that what it no longer makes is found. */
  readonly folder?: string;
  /** What it makes: the text of each file, by path from the root of the repository. */
  files(): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
}

const wireFolder = "proto/src/generated";
const crdFolder = "charts/flotilla-crds/templates";

export const generators: readonly Generator[] = [
  {
    name: "CRDs",
    folder: crdFolder,
    files: () =>
      new Map(
        allCrds().map((crd) => [
          `${crdFolder}/${crd.spec.names.plural}.yaml`,
          `# Made from shared/src/api by \`npm run generate\`.\n${renderCrd(crd)}`,
        ]),
      ),
  },
  {
    name: "API reference",
    files: () => new Map([["docs/reference/api.md", apiReference()]]),
  },
  {
    name: "error reference",
    files: async () => new Map([["docs/errors.md", await errorReference(root)]]),
  },
  {
    name: "wire types",
    folder: wireFolder,
    files: () => wireTypes(root, wireFolder),
  },
];

export interface StaleFile {
  readonly path: string;
  /** What belongs there; undefined: nothing does. */
  readonly wanted: string | undefined;
}

/** The files under `root` that are not what the generators make. */
export async function staleFiles(
  root: string,
  of: readonly Generator[],
): Promise<readonly StaleFile[]> {
  const stale: StaleFile[] = [];
  for (const generator of of) {
    const files = await generator.files();
    for (const [path, wanted] of files) {
      if ((await textOf(join(root, path))) !== wanted) stale.push({ path, wanted });
    }
    for (const path of await pathsIn(root, generator.folder)) {
      if (!files.has(path)) stale.push({ path, wanted: undefined });
    }
  }
  return stale;
}

async function pathsIn(root: string, folder: string | undefined): Promise<readonly string[]> {
  if (folder === undefined) return [];
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(
    ifMissing([]),
  );
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(ifMissing(undefined));
}

function ifMissing<T>(value: T): (thrown: unknown) => T {
  return (thrown) => {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return value;
    throw thrown;
  };
}
