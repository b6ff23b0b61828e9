/** What an OCIRepository of Flux refers to: its tag, its revision, its layer. Pure. */
import { AppError } from "../../errors/index.ts";
import type { Patterns } from "../../regex/index.ts";
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
  /** Of the manifest that the tag points to, which may be an index of several platforms. */
  readonly digest: string;
  /** Absent for a reference by digest. */
  readonly tag?: string | undefined;
}

/** Of packaged Helm charts. */
export const helmChartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/** As in `status.artifact.revision` of Flux. */
export function formatRevision({ digest, tag }: OciRevision): string {
  return tag === undefined ? digest : `${tag}@${digest}`;
}

export interface TagQuery {
  readonly semver: string;
  readonly semverFilter?: string | undefined;
  /** Of the layer selector: only tags of Helm charts have `_` where the version has `+`. */
  readonly mediaType?: string | undefined;
}

interface Candidate {
  readonly tag: string;
  readonly version: NonNullable<ReturnType<typeof parseVersion>>;
}

/** The tag of the highest version that satisfies the constraint. Throws AppErrors that name the field. */
export function chooseTag(tags: readonly string[], query: TagQuery, patterns: Patterns): string {
  const { semver, semverFilter = "", mediaType } = query;
  const constraint = parseConstraint(semver);
  const candidates = tags
    .filter((tag) => semverFilter === "" || isMatch(semverFilter, tag, patterns))
    .flatMap((tag): readonly Candidate[] => {
      const version = strictVersion(mediaType === helmChartLayer ? tag.replaceAll("_", "+") : tag);
      return version === undefined ? [] : [{ tag, version }];
    })
    .toSorted((a, b) => compareVersions(b.version, a.version));
  const chosen = candidates.find(({ version }) => satisfies(constraint, version));
  if (chosen !== undefined) return chosen.tag;
  const highest = candidates.slice(0, 5).map(({ tag }) => tag);
  throw new AppError(
    chartErrors.CHART_VERSION_NOT_FOUND,
    `no match found for semver: ${semver}: the registry lists ${tags.length} tags, ${highest.length === 0 ? "none of which is a version that spec.ref.semverFilter selects" : `the highest versions are ${highest.join(", ")}`}`,
  );
}

function isMatch(pattern: string, tag: string, patterns: Patterns): boolean {
  const match = patterns.find(pattern, tag, {
    compiling: () => undefined,
    matching: () => undefined,
  });
  if (match.kind === "unusable")
    throw new AppError(
      chartErrors.CHART_SOURCE_INVALID,
      `spec.ref.semverFilter is not a usable regular expression: ${match.why}`,
    );
  return match.kind === "yes";
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
