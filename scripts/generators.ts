/** The generated files of the repository. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { allCrds, type CustomResourceDefinition, renderCrd } from "@flotilla/shared/api/crd";
import { apiReference } from "@flotilla/shared/api/reference";
import { renderAdmission } from "@flotilla/shared/api/rollout/admission";
import { rolloutCrds } from "@flotilla/shared/api/rollout/crd";
import { rolloutReference } from "@flotilla/shared/api/rollout/reference";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { openApiDocument } from "@flotilla/shared/dashboard";
import { fluxCrds } from "@flotilla/shared/flux/crd";
import { fluxReference } from "@flotilla/shared/flux/reference";

import { errorReference } from "./error-reference.ts";
import { root } from "./run.ts";
import { wireTypes } from "./wire-types.ts";

export interface Generator {
  readonly name: string;
  /** A folder with files of this generator only, so that files that it no longer generates are found. */
  readonly folder?: string;
  /** The text of each file, by path from the root of the repository. */
  files(): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
}

const wireFolder = "proto/src/generated";

export const generators: readonly Generator[] = [
  chartGenerator("CRDs", "flotilla-crds", () => [
    ...crdFiles("shared/src/api/fleet", allCrds()),
    ...crdFiles("shared/src/api/rollout", rolloutCrds()),
    ["gate-decisions.yaml", admissionFile()],
  ]),
  chartGenerator("CRDs of Flux's kinds", "flotilla-flux-crds", () =>
    crdFiles("shared/src/api/flux", fluxCrds()),
  ),
  {
    name: "API reference",
    files: () =>
      new Map([
        ["docs/reference/api.md", apiReference()],
        ["docs/reference/flux.md", fluxReference()],
        ["docs/reference/rollouts.md", rolloutReference()],
      ]),
  },
  {
    name: "OpenAPI document of the dashboard",
    files: () =>
      new Map([
        [
          "docs/reference/dashboard.json",
          `${JSON.stringify(openApiDocument(buildVersion), null, 2)}\n`,
        ],
      ]),
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

type NamedFile = readonly [name: string, text: string];

/** The templates of a chart, by name. */
function chartGenerator(
  name: string,
  chart: string,
  templates: () => readonly NamedFile[],
): Generator {
  const folder = `charts/${chart}/templates`;
  return {
    name,
    folder,
    files: () => new Map(templates().map(([file, text]) => [`${folder}/${file}`, text])),
  };
}

/** A file for each CRD. */
function crdFiles(
  schemas: string,
  crds: readonly CustomResourceDefinition[],
): readonly NamedFile[] {
  return crds.map((crd) => [
    `${crd.spec.names.plural}.yaml`,
    `# Generated from ${schemas} by \`npm run generate\`.\n${renderCrd(crd)}`,
  ]);
}

/** Kubernetes 1.29 does not have the kind: who decided is not verified there. */
function admissionFile(): string {
  return [
    "# Generated from shared/src/api/rollout/admission by `npm run generate`.",
    '{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" }}',
    `${renderAdmission()}{{- end }}`,
    "",
  ].join("\n");
}

export interface StaleFile {
  readonly path: string;
  /** The generated text; undefined: the file is no longer generated. */
  readonly expected: string | undefined;
}

/** The files below `root` that differ from what the generators generate. */
export async function staleFiles(
  root: string,
  of: readonly Generator[],
): Promise<readonly StaleFile[]> {
  const stale: StaleFile[] = [];
  for (const generator of of) {
    const files = await generator.files();
    for (const [path, expected] of files) {
      if ((await textOf(join(root, path))) !== expected) stale.push({ path, expected });
    }
    for (const path of await pathsIn(root, generator.folder)) {
      if (!files.has(path)) stale.push({ path, expected: undefined });
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
