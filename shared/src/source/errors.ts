/** What can go wrong between us and a chart repository. "Registry" in a code means HTTP repositories too. */
import { AppError, defineErrors, type ErrorKind } from "../errors/app-error.ts";

export const chartErrors = defineErrors({
  CHART_SOURCE_INVALID: {
    retryable: false,
    help: "helm.chart, helm.repo and helm.version do not name a chart together. The message says which one to change.",
  },
  REPOSITORY_SECRET_INVALID: {
    retryable: false,
    help: "The Secret that helmSecretName names holds something that cannot be used. The message names the key.",
  },
  INDEX_FETCH: {
    retryable: true,
    help: "index.yaml of the chart repository could not be fetched. Try the address in the message; it is tried again by itself.",
  },
  INDEX_TOO_LARGE: {
    retryable: true,
    help: "index.yaml is larger than is accepted. Remove old versions from the repository, split it, or raise the limit.",
  },
  INDEX_INVALID: {
    retryable: true,
    help: "What came back for index.yaml is not the index of a Helm repository. Often it is the page of a login or a proxy.",
  },
  CHART_NOT_FOUND: {
    retryable: true,
    help: "The repository answers, but has no chart of this name. Check helm.chart, or helm.repo for an OCI registry.",
  },
  CHART_VERSION_NOT_FOUND: {
    retryable: true,
    help: "The chart is there, but no version satisfies helm.version. The message names the highest versions that are there.",
  },
  REGISTRY_UNAUTHORIZED: {
    retryable: true,
    help: "The repository refuses access. Check the Secret that helmSecretName names, and what its account may read.",
  },
  REGISTRY_UNREACHABLE: {
    retryable: true,
    help: "The registry could not be reached, or its certificate is not trusted. The message says which; it is tried again by itself.",
  },
  REGISTRY_RATE_LIMITED: {
    retryable: true,
    help: "The repository asks to be left alone for a while. Credentials or a mirror raise the limit; it is tried again by itself.",
  },
  REGISTRY_ANSWER: {
    retryable: true,
    help: "The registry answered with something that is no response to what was asked. The message has both.",
  },
  CHART_DOWNLOAD: {
    retryable: true,
    help: "The chart's archive could not be downloaded from its pinned address. It is tried again by itself.",
  },
  CHART_DIGEST_MISMATCH: {
    retryable: true,
    help: "The bytes are not those that the version was resolved to. The chart was published again under the same version, or something between changes it.",
  },
  CHART_CACHE: {
    retryable: true,
    help: "The chart could not be kept on disk. Usually the disk is full; nothing was left behind.",
  },
});

/** A repository's own refusal: what it answered, and when it wants to be asked again. */
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
