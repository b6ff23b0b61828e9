/**
 * Resolves a version or constraint to a pin: the one place where a version is chosen. The same for all sources; the choice
 * itself is pure (version/select.ts).
 */
import { AppError, unreachable } from "../../../runtime/errors/index.ts";
import { isStaticVersion, parseVersion, selectVersion } from "../../version/index.ts";
import {
  chartErrors,
  type ListedVersion,
  type Listing,
  type Pin,
  type ResolvedPin,
  type Source,
  type SourceLocation,
  type SourceRequest,
} from "../index.ts";

/** Resolves `constraint` at `location`; empty means the newest release. Throws an AppError that says why there is no pin. */
export async function resolveVersion<
  L extends SourceLocation,
  P extends Pin,
  V extends ListedVersion,
>(
  source: Source<L, P, V>,
  location: L,
  constraint: string,
  request: SourceRequest,
): Promise<ResolvedPin> {
  if (source.pinsUnlisted && isStaticVersion(constraint)) {
    const resolved = await source.pin(location, constraint, request);
    if (resolved !== undefined) return resolved;
  }
  const listing = await source.list(location, request);
  const version = listing === undefined ? constraint : choose(location, constraint, listing);
  const resolved = await source.pin(location, version, {
    ...request,
    ...(listing !== undefined && { listing }),
  });
  if (resolved !== undefined) return resolved;
  throw new AppError(
    chartErrors.CHART_VERSION_NOT_FOUND,
    `${describeLocation(location, version)} is listed, but does not exist`,
  );
}

/** The listed version that the constraint selects. */
function choose(location: SourceLocation, constraint: string, listing: Listing): string {
  const selection = selectVersion(
    listing.versions.map(({ version }) => version),
    constraint,
    { kind: listing.rules },
  );
  switch (selection.kind) {
    case "found":
      return selection.text;
    case "invalid":
      throw selection.error;
    case "none":
      throw listing.notFound ?? noSuchVersion(location, constraint, listing, selection.highest);
    default:
      return unreachable(selection);
  }
}

/** For a constraint that no listed version satisfies: names the highest that there are. */
export function noSuchVersion(
  location: SourceLocation,
  constraint: string,
  { rules, versions, problems, listedBy }: Listing,
  highest: readonly string[],
): AppError {
  const noun = rules === "tags" ? "tag" : "version";
  const skipped = problems[0] === undefined ? "" : `; skipped: ${problems[0]}`;
  return new AppError(
    chartErrors.CHART_VERSION_NOT_FOUND,
    `no chart version found for ${describeLocation(location, constraint)}: ${listedBy} ${describeOffer(versions.length, noun, highest)}${skipped}`,
  );
}

/** An empty version selects the newest release. */
function describeLocation(location: SourceLocation, version: string): string {
  switch (location.kind) {
    case "http":
      return version === "" ? location.chart : `${location.chart}-${version}`;
    case "oci":
      return version === "" ? location.repository : `${location.repository}:${version}`;
    case "tarball":
      return location.url;
    default:
      return unreachable(location);
  }
}

function describeOffer(count: number, noun: string, highest: readonly string[]): string {
  if (count === 0) return `lists no ${noun}s`;
  const [first] = highest;
  if (count === 1)
    return first === undefined
      ? `lists one ${noun}, which is not a version`
      : `lists one ${noun}, ${first}${prereleaseHint(highest)}`;
  return first === undefined
    ? `lists ${count} ${noun}s, none of which is a version`
    : `lists ${count} ${noun}s, the highest are ${highest.join(", ")}${prereleaseHint(highest)}`;
}

/** Users often do not know this rule of Helm's constraints. */
function prereleaseHint(versions: readonly string[]): string {
  return versions.every((text) => isPrerelease(text))
    ? "; a prerelease is chosen only by a constraint that names one, such as >=0.0.0-0"
    : "";
}

function isPrerelease(text: string): boolean {
  return (parseVersion(text.replaceAll("_", "+"))?.prerelease.length ?? 0) > 0;
}
