/** Which dependencies a chart in a directory lacks, and where they come from, as in source-controller. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import { selectVersion } from "../../version/index.ts";
import {
  accessTo,
  chartErrors,
  describeUrl,
  parseOciName,
  type RepositoryAccess,
  type SourceLocation,
} from "../index.ts";
import type { ChartDependency, ChartLock, ChartMetadata } from "./chart-metadata.ts";
import { isLockInSync } from "./lock-digest.ts";

/** A dependency that is not in `charts/`. */
export type MissingDependency =
  /** `path`: from the chart. */
  | {
      readonly kind: "local";
      readonly name: string;
      readonly version: string;
      readonly path: string;
    }
  | {
      readonly kind: "remote";
      readonly name: string;
      /** A constraint, or a version. */
      readonly version: string;
      readonly repository: string;
    };

export interface DependencyFacts {
  readonly metadata: ChartMetadata;
  readonly lock?: ChartLock | undefined;
  /** The charts in `charts/`. */
  readonly present: readonly Pick<ChartMetadata, "name" | "version">[];
}

/** More than any chart has. */
const maxDependencies = 100;

const filePrefix = "file://";
const remotePattern = /^(?:https?|oci):\/\//i;

/** Throws CHART_DEPENDENCY if they cannot be resolved. */
export function missingDependencies({
  metadata,
  lock,
  present,
}: DependencyFacts): readonly MissingDependency[] {
  const required = lock === undefined ? metadata.dependencies : lock.dependencies;
  if (required.length > maxDependencies)
    throw failed(`it has ${required.length} dependencies, at most ${maxDependencies} are allowed`);
  const missing = required.filter((each) => !isPresent(each, required, present));
  if (missing.length === 0) return [];
  if (lock !== undefined && !isLockInSync(metadata, lock)) {
    const [lockFile, chartFile] =
      metadata.apiVersion === "v1"
        ? ["requirements.lock", "requirements.yaml"]
        : ["Chart.lock", "Chart.yaml"];
    throw failed(
      `${lockFile} is out of sync with the dependencies in ${chartFile}; run helm dependency update and commit it`,
    );
  }
  // Two aliases of one chart need it once.
  const unique = new Map(
    missing.map((each) => [JSON.stringify([each.name, each.version, each.repository]), each]),
  );
  return [...unique.values()].map(sourceOf);
}

/** The location of a remote dependency. Throws CHART_DEPENDENCY. */
export function dependencyLocation({
  name,
  repository,
}: {
  readonly name: string;
  readonly repository: string;
}): SourceLocation {
  if (/^https?:\/\//i.test(repository)) {
    const url = URL.parse(repository);
    if (url !== null && url.username === "" && url.password === "")
      return { kind: "http", repository, chart: name };
    throw unusable(
      name,
      "its repository is not an address, or has a user name or a password in it",
    );
  }
  const oci = `${repository.replace(/\/+$/, "")}/${name}`;
  if (parseOciName(oci) === undefined)
    throw unusable(name, "its repository is not oci://HOST/PATH");
  return { kind: "oci", repository: oci };
}

/** The addresses of the repositories that a chart has dependencies from, once each. */
export function dependencyRepositories({
  dependencies,
}: Pick<ChartMetadata, "dependencies">): readonly string[] {
  const addresses = dependencies
    .slice(0, maxDependencies)
    .map(({ repository }) => repository)
    .filter((repository) => remotePattern.test(repository));
  return [...new Map(addresses.map((each) => [normalize(each), each])).values()];
}

/** Whether two spellings are the address of one repository. */
export function isSameRepository(a: string, b: string): boolean {
  return normalize(a) === normalize(b);
}

/**
 * The access to the repository of a dependency; anonymous where none is given for that address. Throws CHART_DEPENDENCY for one that
 * the hub has not found in the chart: no Policy has judged it. A lock, an ignored file or a chart within the chart may name others.
 */
export function dependencyAccess(
  dependency: { readonly name: string; readonly repository: string },
  access: Pick<RepositoryAccess, "dependencies" | "dependencyRepositories">,
): RepositoryAccess {
  const { dependencies = [], dependencyRepositories: allowed } = access;
  if (allowed?.some((url) => isSameRepository(url, dependency.repository)) === false)
    throw unusable(
      dependency.name,
      `its repository ${describeUrl(dependency.repository)} is not one of those in Chart.yaml (or requirements.yaml) as the hub has read it; name it there, and update the lock`,
    );
  const given = dependencies.find(({ url }) => isSameRepository(url, dependency.repository));
  return accessTo(dependencyLocation(dependency), given?.access);
}

/** One form for all spellings of the address of a repository. */
function normalize(address: string): string {
  const url = URL.parse(address);
  return (url === null ? address : url.href).replace(/\/+$/, "");
}

/** By its name; where one name is required several times, by its version, too. */
function isPresent(
  { name, version }: ChartDependency,
  required: readonly ChartDependency[],
  present: DependencyFacts["present"],
): boolean {
  const named = present.filter((each) => each.name === name);
  const versions = new Set(
    required.filter((each) => each.name === name).map((each) => each.version),
  );
  return versions.size <= 1
    ? named.length > 0
    : named.some((each) => satisfiesVersion(each.version, version));
}

export function satisfiesVersion(version: string, constraint: string): boolean {
  return selectVersion([version], constraint, { kind: "index" }).kind === "found";
}

function sourceOf({ name, version, repository }: ChartDependency): MissingDependency {
  if (repository === "")
    throw unusable(name, "it has no repository, and is not in the folder charts");
  if (repository.startsWith(filePrefix))
    return { kind: "local", name, version, path: repository.slice(filePrefix.length) };
  if (/^(?:@|alias:)/.test(repository))
    throw unusable(
      name,
      `${JSON.stringify(repository)} is a name from the configuration of a Helm client; write the address of the repository`,
    );
  if (!remotePattern.test(repository))
    throw unusable(name, "its repository has to begin with https://, http://, oci:// or file://");
  return { kind: "remote", name, version, repository };
}

function unusable(name: string, why: string): AppError {
  return failed(`dependency ${JSON.stringify(name)}: ${why}`);
}

function failed(message: string): AppError {
  return new AppError(chartErrors.CHART_DEPENDENCY, message);
}
