/** What an OCIRepository of Flux refers to: its tag, its revision, its layer. */

import { createTimeSlices } from "../../../runtime/concurrency/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { createPatternBudget, type Patterns } from "../../../text/regex/index.ts";
import { compareVersions, parseConstraint, parseVersion, satisfies } from "../../version/index.ts";
import { chartErrors } from "../index.ts";

/** `spec.ref`: the digest before the constraint before the tag. */
export interface OciReference {
  readonly digest?: string | undefined;
  readonly semver?: string | undefined;
  /** A regular expression for the tags that are compared. */
  readonly semverFilter?: string | undefined;
  /** Default: `latest`. */
  readonly tag?: string | undefined;
}

/** What a reference refers to now. */
export interface OciRevision {
  /** The digest of the manifest that the tag points to, which may be an index of several platforms. */
  readonly digest: string;
  /** Absent for a reference by digest. */
  readonly tag?: string | undefined;
}

/** The media type of packaged Helm charts. */
export const helmChartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/** As in `status.artifact.revision` of Flux. */
export function formatRevision({ digest, tag }: OciRevision): string {
  return tag === undefined ? digest : `${tag}@${digest}`;
}

export interface TagQuery {
  readonly semver: string;
  readonly semverFilter?: string | undefined;
  /** The media type of the layer: only tags of Helm charts have `_` where the version has `+`. */
  readonly mediaType?: string | undefined;
}

interface Candidate {
  readonly tag: string;
  readonly version: NonNullable<ReturnType<typeof parseVersion>>;
}

/** What the filter may take for all tags of a repository; the tags with the highest versions are compared first. */
const filterMs = 2_000;

/** Tags whose versions are compared at once. */
const tagsOfChunk = 1_000;
/** Named where none satisfies the constraint. */
const shownTags = 5;

/**
 * The tag of the highest version that satisfies the constraint. Throws AppErrors that name the field. Others have their turn on
 * the event loop meanwhile: a repository may have 100,000 tags.
 */
export async function chooseTag(
  tags: readonly string[],
  query: TagQuery,
  patterns: Patterns,
): Promise<string> {
  const { semver, semverFilter = "", mediaType } = query;
  const constraint = parseConstraint(semver);
  const isSelected = createFilter(semverFilter, patterns);
  const slices = createTimeSlices();
  const read = readerOf(mediaType);
  const chunks: string[][] = [];
  for (let at = 0; at < tags.length; at += tagsOfChunk) {
    chunks.push(sortedVersions(tags.slice(at, at + tagsOfChunk), read));
    if (slices.isOver) await slices.pause();
  }
  const highest: string[] = [];
  for (const { tag, version } of highestFirst(chunks, read)) {
    if (slices.isOver) await slices.pause();
    const isSatisfying = satisfies(constraint, version);
    if (!isSatisfying && highest.length === shownTags) continue;
    if (!isSelected(tag)) continue;
    if (isSatisfying) return tag;
    highest.push(tag);
  }
  throw new AppError(
    chartErrors.CHART_VERSION_NOT_FOUND,
    `no match found for semver: ${semver}: the registry lists ${tags.length} tags, ${highest.length === 0 ? "none of which is a version that spec.ref.semverFilter selects" : `the highest versions are ${highest.join(", ")}`}`,
  );
}

/** Reads a tag as a version; undefined: it is none. */
type ReadVersion = (tag: string) => Candidate | undefined;

function readerOf(mediaType: string | undefined): ReadVersion {
  return (tag) => {
    const version = strictVersion(mediaType === helmChartLayer ? tag.replaceAll("_", "+") : tag);
    return version && { tag, version };
  };
}

/** The tags that are versions, the highest first; of equal ones that which the registry lists first. */
function sortedVersions(tags: readonly string[], read: ReadVersion): string[] {
  return tags
    .flatMap((tag) => read(tag) ?? [])
    .sort((a, b) => compareVersions(b.version, a.version))
    .map(({ tag }) => tag);
}

/**
 * From sorted lists. Only the version of the next tag of each is kept: the versions of 100,000 tags are many times as large as the
 * tags, and collecting them holds everything up.
 */
function* highestFirst(
  chunks: readonly (readonly string[])[],
  read: ReadVersion,
): Generator<Candidate> {
  const rests = chunks.map((tags) => ({ tags, at: 0, next: read(tags[0] ?? "") }));
  for (;;) {
    let first: (typeof rests)[number] | undefined;
    for (const rest of rests) {
      if (rest.next === undefined) continue;
      const isHigher =
        first?.next === undefined || compareVersions(rest.next.version, first.next.version) > 0;
      if (isHigher) first = rest;
    }
    if (first?.next === undefined) return;
    yield first.next;
    first.at += 1;
    first.next = read(first.tags[first.at] ?? "");
  }
}

/** Throws for an expression that cannot be used, and when all tags together take too long. */
function createFilter(pattern: string, patterns: Patterns): (tag: string) => boolean {
  if (pattern === "") return () => true;
  const budget = createPatternBudget(filterMs);
  const select = (tag: string): boolean => {
    const match = patterns.findWithin(pattern, tag, budget);
    if (match.kind === "unusable")
      throw new AppError(
        chartErrors.CHART_SOURCE_INVALID,
        `spec.ref.semverFilter is not a usable regular expression: ${match.why}`,
      );
    if (match.kind === "spent")
      throw new AppError(
        chartErrors.CHART_SOURCE_INVALID,
        `spec.ref.semverFilter takes too long for all tags of the repository: write a simpler expression, or a spec.ref.semver that fewer versions satisfy`,
      );
    return match.kind === "yes";
  };
  // Also where no tag is a version.
  select("");
  return select;
}

/** Three numbers, as Flux reads tags, with or without a leading `v`. */
function strictVersion(text: string) {
  return /^v?\d+\.\d+\.\d+(?:[-+]|$)/.test(text) ? parseVersion(text) : undefined;
}

/** The version of a chart from an OCIRepository: `1.2.3+` and the first 12 hex digits of the digest of its revision. */
export function chartVersionOf(version: string, revision: OciRevision): string | AppError {
  const chart = parseVersion(version);
  if (chart === undefined)
    return new AppError(
      chartErrors.CHART_SOURCE_INVALID,
      `chart version ${version} is not a version`,
    );
  const tag = revision.tag && parseVersion(revision.tag.replaceAll("_", "+"));
  if (tag && compareVersions(tag, chart) !== 0)
    return new AppError(
      chartErrors.CHART_SOURCE_INVALID,
      `artifact revision ${revision.tag} does not match chart version ${version}`,
    );
  const { major, minor, patch, prerelease } = chart;
  const suffix = prerelease === "" ? "" : `-${prerelease}`;
  return `${major}.${minor}.${patch}${suffix}+${revision.digest.slice("sha256:".length).slice(0, 12)}`;
}
