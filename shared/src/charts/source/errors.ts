/**
 * Why a chart cannot be found, fetched or verified, on the hub and on agents; their conditions have these codes. "Registry" in a code
 * includes HTTP repositories.
 */
import { AppError, defineErrors, type ErrorKind } from "../../runtime/errors/index.ts";

export const chartErrors = defineErrors({
  CHART_SOURCE_INVALID: {
    retryable: false,
    help: "helm.chart, helm.repo and helm.version do not name a chart together. The message says which field to change.",
  },
  REPOSITORY_SECRET_INVALID: {
    retryable: false,
    help: "The Secret of the source (helmSecretName, secretRef, certSecretRef, proxySecretRef) has invalid data. The message names the key.",
  },
  SOURCE_UNSUPPORTED: {
    retryable: false,
    help: "A field of the source requests what Flotilla does not support. The message names the field and what to use instead.",
  },
  EGRESS_DENIED: {
    retryable: true,
    help: "The host of the repository, or one that it redirects to, has an address that charts are not fetched from: a link-local or loopback address, a port of Flotilla itself or, where the administrator denies that, one of a private network. See docs/credentials.md.",
  },
  INDEX_FETCH: {
    retryable: true,
    help: "Fetching index.yaml of the chart repository failed. Check the address in the message. It is retried automatically.",
  },
  INDEX_TOO_LARGE: {
    retryable: true,
    help: "index.yaml exceeds the size limit. Remove old versions from the repository, split it, or raise the limit.",
  },
  INDEX_INVALID: {
    retryable: true,
    help: "The response for index.yaml is not the index of a Helm repository. Often it is the page of a login or a proxy.",
  },
  CHART_NOT_FOUND: {
    retryable: true,
    help: "The repository does not have a chart of this name. Check helm.chart, or helm.repo for an OCI registry.",
  },
  CHART_VERSION_NOT_FOUND: {
    retryable: true,
    help: "The chart exists, but no version satisfies helm.version. The message names the highest versions.",
  },
  REGISTRY_UNAUTHORIZED: {
    retryable: true,
    help: "The repository denies access. Check the Secret with the credentials (helmSecretName, secretRef), and the permissions of its account.",
  },
  REGISTRY_UNREACHABLE: {
    retryable: true,
    help: "The registry cannot be reached, or its certificate is not trusted. The message says which. It is retried automatically.",
  },
  REGISTRY_RATE_LIMITED: {
    retryable: true,
    help: "The repository limits the rate of requests. Credentials or a mirror raise the limit. It is retried automatically.",
  },
  REGISTRY_ANSWER: {
    retryable: true,
    help: "The response of the registry is invalid. The message has the request and the reason.",
  },
  CHART_DOWNLOAD: {
    retryable: true,
    help: "Downloading the archive of the chart from its pinned address failed. It is retried automatically.",
  },
  CHART_DIGEST_MISMATCH: {
    retryable: true,
    help: "The downloaded archive is not the one that the version was resolved to, or, for a chart from a bucket, not the bytes that the first cluster received. The chart was published again under the same version, or a proxy changes it. Fix the index, or publish the chart again.",
  },
  CHART_NOT_IN_SOURCE: {
    retryable: false,
    help: "The path of the chart does not exist in the source at that revision, leads out of it, or is not a chart. The message names path and revision. Correct the path, or commit the chart; the next revision is tried at once.",
  },
  CHART_VALUES_FILE: {
    retryable: false,
    help: "A values file of the chart (`valuesFiles`) does not exist in the source, or is not a YAML map. The message names it. Correct it in the source, or set `ignoreMissingValuesFiles`. The next revision is tried at once.",
  },
  CHART_DEPENDENCY: {
    retryable: true,
    help: "A dependency of a chart from a Git repository or a bucket is neither in its folder charts nor could it be fetched from the repository in Chart.lock or Chart.yaml. The message names it. Run `helm dependency update` and commit Chart.lock, or commit the folder charts.",
  },
  CHART_BUILD: {
    retryable: false,
    help: "The files in the source do not make a chart that Helm takes: Chart.yaml, .helmignore or a file is invalid, too large, or a symbolic link out of the source. The message names it. The next revision is tried at once.",
  },
  SOURCE_IGNORE_INVALID: {
    retryable: false,
    help: "spec.ignore and the .sourceignore files of a source have too many patterns or bytes, or a pattern that is too long. The message says which. Shorten them.",
  },
  CHART_CACHE: {
    retryable: true,
    help: "Writing the chart to the cache on disk failed. Usually the disk is full. No partial file is left.",
  },
});

/** An error response of a repository: its status, and when to retry. */
export class RepositoryError extends AppError {
  override readonly name: string = "RepositoryError";
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: {
      readonly cause?: unknown;
      readonly status?: number;
      readonly retryAfterMs?: number | undefined;
    } = {},
  ) {
    super(kind, message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
