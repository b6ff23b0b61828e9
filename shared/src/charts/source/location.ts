/** The location of a chart: which kind of source a HelmOp names, classified as Fleet does. Pure. */
import { AppError } from "../../runtime/errors/index.ts";
import { chartErrors } from "./errors.ts";

/** One archive at one address; it has no versions to select from. */
export interface ArchiveLocation {
  readonly kind: "tarball";
  readonly url: string;
}

/** A repository of an OCI registry; its tags are the versions. */
export interface OciLocation {
  readonly kind: "oci";
  /** `oci://host/path`. */
  readonly repository: string;
}

/** A chart of an HTTP repository with an `index.yaml`. */
export interface HttpLocation {
  readonly kind: "http";
  readonly repository: string;
  readonly chart: string;
}

export type SourceLocation = ArchiveLocation | OciLocation | HttpLocation;

/** The fields of `spec.helm` that name a chart. */
export interface ChartFields {
  readonly chart?: string | null | undefined;
  readonly repo?: string | null | undefined;
  readonly version?: string | null | undefined;
}

/** Host and path of `oci://host/path`. */
export interface OciName {
  readonly host: string;
  readonly path: string;
}

const ociScheme = /^oci:\/\//i;
const ociPath =
  /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;

/** The location that a HelmOp names, or the error that says which field to change. */
export function classifySource(reference: ChartFields): SourceLocation | AppError {
  const chart = reference.chart?.trim() ?? "";
  const repo = reference.repo?.trim() ?? "";
  const version = reference.version?.trim() ?? "";

  if (/\.tgz$/i.test(chart)) return tarball(chart, repo, version);
  if (ociScheme.test(repo)) return oci(chart, repo);
  return http(chart, repo);
}

/** Splits `oci://host/path`; undefined for any other text. */
export function parseOciName(repository: string): OciName | undefined {
  const rest = repository.replace(ociScheme, "");
  const slash = rest.indexOf("/");
  if (rest.length === repository.length || slash <= 0) return undefined;
  const host = rest.slice(0, slash).toLowerCase();
  const path = rest.slice(slash + 1).replace(/\/+$/, "");
  if (URL.parse(`https://${host}/`)?.host === undefined || /[@?#\s]/.test(host)) return undefined;
  return ociPath.test(path) ? { host, path } : undefined;
}

function tarball(chart: string, repo: string, version: string): SourceLocation | AppError {
  if (repo !== "")
    return invalid("helm.chart is the address of an archive (.tgz), so helm.repo must be empty");
  if (version !== "") {
    return invalid("helm.chart is the address of an archive (.tgz), so helm.version must be empty");
  }
  return checkHttpAddress("helm.chart", chart) ?? { kind: "tarball", url: chart };
}

function oci(chart: string, repo: string): SourceLocation | AppError {
  if (chart !== "") {
    return invalid(
      "helm.repo is an OCI repository, so helm.chart must be empty: put the chart's name at the end of helm.repo",
    );
  }
  const name = parseOciName(repo);
  if (name === undefined) {
    return invalid(
      "helm.repo has to be oci://HOST/PATH, lower case, without a tag (that goes into helm.version), a digest or a user name",
    );
  }
  return { kind: "oci", repository: `oci://${name.host}/${name.path}` };
}

function http(chart: string, repo: string): SourceLocation | AppError {
  if (repo === "" && chart === "")
    return invalid("helm.repo and helm.chart are empty: name a repository and a chart");
  if (repo === "") {
    const oddArchive = /^https?:\/\//i.test(chart) || ociScheme.test(chart);
    return invalid(
      oddArchive
        ? "helm.chart is an address that does not end in .tgz: an OCI repository goes into helm.repo, an archive has to end in .tgz"
        : "helm.repo is empty: name the repository that has the chart",
    );
  }
  const wrong = checkHttpAddress("helm.repo", repo);
  if (wrong !== undefined) return wrong;
  if (chart === "")
    return invalid("helm.chart is empty: name a chart of the repository in helm.repo");
  return { kind: "http", repository: repo, chart };
}

function checkHttpAddress(field: string, address: string): AppError | undefined {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return invalid(
      `${field} has to be an address that begins with https://, http:// or (helm.repo only) oci://`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    return invalid(
      `${field} holds a user name or a password: put them into the Secret that helmSecretName names`,
    );
  }
  return undefined;
}

function invalid(message: string): AppError {
  return new AppError(chartErrors.CHART_SOURCE_INVALID, message);
}
