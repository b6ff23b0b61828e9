/**
 * Selects a version of a repository for the text in `helm.version`, as Helm and Fleet do.
 *
 * Versions that differ only in build metadata are equal. In an index the first in the order of the file wins: Helm's result
 * for up to 12 entries and for any sorted index, as tools write them. Beyond that Helm's sort is not stable, and its result
 * depends on the number of entries. Among tags, which a registry may list in any order, the first by text wins: Fleet's
 * result wherever the registry sorts them, as the specification requires.
 */
import { AppError } from "../../runtime/errors/index.ts";
import { type Constraint, parseConstraint, satisfies } from "./constraint.ts";
import { compareVersions, parseStrictVersion, parseVersion, type Version } from "./version.ts";

/** The selected version, or why there is none. */
export type Selection =
  | {
      readonly kind: "found";
      /** The text as the repository has it: the version of an index entry, or the tag with its `_`. */
      readonly text: string;
      /** Its version; for a tag the text has `+` where the tag has `_`. */
      readonly version: Version;
    }
  /** No version satisfies it; `highest` are the highest available ones, in descending order, for a message. */
  | { readonly kind: "none"; readonly highest: readonly string[] }
  | { readonly kind: "invalid"; readonly error: AppError };

/** The origin of the texts: entries of an `index.yaml`, or tags of an OCI repository. */
export interface SelectOptions {
  readonly kind: "index" | "tags";
}

interface Candidate {
  readonly text: string;
  readonly version: Version;
}

const highestShown = 5;

/** The identical text first, then the highest version that satisfies the constraint; empty means the newest release. */
export function selectVersion(
  available: readonly string[],
  constraintText: string,
  options: SelectOptions,
): Selection {
  const candidates = candidatesOf(available, options);
  const same = candidates.find(
    ({ text, version }) => text === constraintText || version.text === constraintText,
  );
  if (same !== undefined) return { kind: "found", ...same };

  let constraint: Constraint;
  try {
    constraint = parseConstraint(constraintText === "" ? "*" : constraintText);
  } catch (thrown) {
    return { kind: "invalid", error: AppError.from(thrown) };
  }
  const chosen = highestOf(candidates.filter(({ version }) => satisfies(constraint, version)));
  if (chosen !== undefined) return { kind: "found", ...chosen };

  const descending = candidates.toSorted((a, b) => compareVersions(b.version, a.version));
  return { kind: "none", highest: descending.slice(0, highestShown).map(({ text }) => text) };
}

/** Whether a text is one exact version, which no new release can change: `1.2.3`, not `v1.2.3` or `1.2`. */
export function isStaticVersion(text: string): boolean {
  return parseStrictVersion(text) !== undefined;
}

/** What is not a version, like the tag `latest`, is ignored, as Helm does. */
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
