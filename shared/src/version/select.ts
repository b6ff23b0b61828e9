/**
 * Which of the versions that a repository has is meant by the text in `helm.version`, as Helm and Fleet choose it.
 *
 * Versions that differ in build metadata alone are equal. In an index the first in the order of the file wins: Helm's
 * answer for up to 12 entries and for any index that is sorted, as they are written. Beyond that its sort is not stable,
 * and the answer depends on how many entries there are. Among tags, which a registry may list in any order, the first
 * by text wins: Fleet's answer wherever the registry sorts them, as it should.
 */
import { AppError } from "../errors/app-error.ts";
import { type Constraint, parseConstraint, satisfies } from "./constraint.ts";
import { compareVersions, parseStrictVersion, parseVersion, type Version } from "./version.ts";

/** What was chosen, or why nothing was. */
export type Selection =
  | {
      readonly kind: "found";
      /** The text as the repository has it: the version of an index entry, or the tag with its `_`. */
      readonly text: string;
      /** The version it stands for; for a tag its text has `+` where the tag has `_`. */
      readonly version: Version;
    }
  /** Nothing satisfies it; `highest` are the highest of what is there, highest first, for a message. */
  | { readonly kind: "none"; readonly highest: readonly string[] }
  | { readonly kind: "invalid"; readonly error: AppError };

/** Where the texts come from: entries of an `index.yaml`, or tags of an OCI repository. */
export interface SelectOptions {
  readonly kind: "index" | "tags";
}

interface Candidate {
  readonly text: string;
  readonly version: Version;
}

const highestShown = 5;

/** Chooses: the very same text first, then the highest that satisfies the constraint; empty means the newest release. */
export function selectVersion(
  available: readonly string[],
  wanted: string,
  options: SelectOptions,
): Selection {
  const candidates = candidatesOf(available, options);
  const same = candidates.find(({ text, version }) => text === wanted || version.text === wanted);
  if (same !== undefined) return { kind: "found", ...same };

  let constraint: Constraint;
  try {
    constraint = parseConstraint(wanted === "" ? "*" : wanted);
  } catch (thrown) {
    return { kind: "invalid", error: AppError.from(thrown) };
  }
  const chosen = highestOf(candidates.filter(({ version }) => satisfies(constraint, version)));
  if (chosen !== undefined) return { kind: "found", ...chosen };

  const descending = candidates.toSorted((a, b) => compareVersions(b.version, a.version));
  return { kind: "none", highest: descending.slice(0, highestShown).map(({ text }) => text) };
}

/** Whether a text names one version for good, so that asking again cannot answer otherwise: `1.2.3`, not `v1.2.3` or `1.2`. */
export function isStaticVersion(text: string): boolean {
  return parseStrictVersion(text) !== undefined;
}

/** What cannot be read as a version, like the tag `latest`, is left out without a word, as Helm does. */
function candidatesOf(available: readonly string[], { kind }: SelectOptions): readonly Candidate[] {
  const texts = kind === "tags" ? available.toSorted(byText) : available;
  return texts.flatMap((text) => {
    const version = parseVersion(kind === "tags" ? text.replaceAll("_", "+") : text);
    return version === undefined ? [] : [{ text, version }];
  });
}

function highestOf(candidates: readonly Candidate[]): Candidate | undefined {
  let highest: Candidate | undefined;
  for (const candidate of candidates) {
    if (highest === undefined || compareVersions(candidate.version, highest.version) > 0)
      highest = candidate;
  }
  return highest;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
