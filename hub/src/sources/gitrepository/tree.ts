/** What the artifact of a GitRepository is: the commit and what is fetched of it. Pure. */

import { createHash } from "node:crypto";
import type { GitRepository, GitRepositorySpec } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { canonicalJson } from "@flotilla/shared/json";
import type { GitInclude, GitPin, GitTree, Pin } from "@flotilla/shared/source";
import type { ResolvedReference } from "@flotilla/shared/source/git";
import { SourceError } from "../fluxsource/source-error.ts";
import type { Provenance } from "../helmchart/provenance.ts";

/** An included GitRepository with the pin of its artifact. */
export interface IncludedTree {
  readonly repository: GitRepository;
  readonly tree: GitTree;
  /** Absent: an earlier version resolved it. */
  readonly provenance: Provenance[number] | undefined;
  readonly fromPath: string;
  readonly toPath: string;
}

export type IncludeSpec = NonNullable<GitRepositorySpec["include"]>[number];

/** Where the files of an include go; absent: a directory with the name of its GitRepository. */
export function targetOf({ toPath, repository }: IncludeSpec): string {
  return toPath === undefined || toPath === "" ? repository.name : toPath;
}

/** The pin of all files: no chart has its `path` and version. */
export function repositoryPin(
  spec: GitRepositorySpec,
  commit: string,
  included: readonly IncludedTree[],
): GitPin {
  const { url, recurseSubmodules, sparseCheckout = [], ignore } = spec;
  const include = included.map(
    ({ tree, fromPath, toPath }): GitInclude => ({ ...treeOf(tree), fromPath, toPath }),
  );
  return {
    kind: "git",
    version: commit,
    url,
    commit,
    ...(recurseSubmodules === true && { recurseSubmodules }),
    ...(sparseCheckout.length > 0 && { sparseCheckout }),
    ...(ignore !== undefined && { ignore }),
    path: ".",
    ...(include.length > 0 && { include }),
    build: {},
  };
}

/** Only the fields of a tree. */
function treeOf({ url, commit, recurseSubmodules, sparseCheckout, ignore }: GitTree): GitTree {
  return {
    url,
    commit,
    ...(recurseSubmodules !== undefined && { recurseSubmodules }),
    ...(sparseCheckout !== undefined && { sparseCheckout }),
    ...(ignore !== undefined && { ignore }),
  };
}

/** How the commit was found and verified, and the included repositories' commits. */
export function repositoryProvenance(
  { verify }: GitRepositorySpec,
  { ref, commit }: ResolvedReference,
  included: readonly IncludedTree[],
): Provenance {
  return [
    { ref: ref ?? commit, ...(verify !== undefined && { verifiedBy: verify.secretRef.name }) },
    ...included.map(({ provenance = {} }) => provenance),
  ];
}

/** The digest of everything that decides which files an artifact has: the hub stores no artifacts. */
export function treeDigest(pin: Pin): string {
  return `sha256:${createHash("sha256").update(canonicalJson(pin)).digest("hex")}`;
}

/** The include of a GitRepository that is missing or has no artifact. */
export function includeUnavailable(
  reason: (typeof fluxReason)["notFound" | "noArtifact"],
  name: string,
): SourceError {
  const why = reason === fluxReason.notFound ? "there is no" : "there is no artifact yet of the";
  return new SourceError(
    reason,
    `spec.include: ${why} GitRepository ${name} of this namespace; continuing as soon as there is one`,
    { condition: fluxType.includeUnavailable },
  );
}
