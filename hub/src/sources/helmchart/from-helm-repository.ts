/** Charts of HelmRepositories: of an index that was read before, or of a registry. */

import { createHash } from "node:crypto";
import { AppError } from "@flotilla/shared/errors";
import type { HelmChart, HelmChartSpec, HelmRepository } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { canonicalJson } from "@flotilla/shared/json";
import type { Store } from "@flotilla/shared/kube/cache";
import {
  archiveDigest,
  chartErrors,
  type DownloadPin,
  describeUrl,
  pinAddress,
  type RepositoryAccess,
  RepositoryError,
} from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import type { OciArtifacts } from "@flotilla/shared/source/oci";
import { versionErrors } from "@flotilla/shared/version";
import { secretNames } from "../fluxsource/access.ts";
import type { FluxCondition } from "../fluxsource/conditions.ts";
import { SourceError } from "../fluxsource/source-error.ts";
import { chartVerificationError, isUsable } from "../fluxsource/source-status.ts";
import { timeoutOf } from "../fluxsource/timeout.ts";
import { verifySignature } from "../fluxsource/verification.ts";
import { chartLocation, helmRepositoryAccess, isRegistry } from "../helmrepository/location.ts";
import type { ChartFromSource, ChartRequest } from "./chart-source.ts";
import type { Provenance } from "./provenance.ts";

/** Only another index or another reference to a chart can help. */
const invalidReferences: ReadonlySet<string> = new Set([
  chartErrors.CHART_NOT_FOUND.code,
  chartErrors.CHART_VERSION_NOT_FOUND.code,
  chartErrors.CHART_SOURCE_INVALID.code,
  versionErrors.VERSION_CONSTRAINT_INVALID.code,
]);

export function chartsOfHelmRepositories(deps: {
  readonly store: Pick<Store<HelmRepository>, "get">;
  readonly resolver: Resolver;
  readonly artifacts: Pick<OciArtifacts, "isSigned">;
}): ChartFromSource<HelmRepository> {
  return {
    find: (key) => deps.store.get(key),
    secretsOf: ({ spec }) => (spec === undefined ? [] : secretNames(spec)),
    revisionOf: (repository) =>
      isRegistry(repository)
        ? `generation ${repository.metadata.generation ?? 0}`
        : isUsable(repository)
          ? repository.status?.artifact?.revision
          : undefined,
    addressOf: ({ spec }) => spec?.url ?? "",
    isPolled: isRegistry,
    async resolve(repository, { chart, spec, secret, signal }) {
      const location = chartLocation(repository, spec.chart);
      const access = helmRepositoryAccess(repository, location, secret);
      const isIndex = location.kind === "http";
      const version = spec.version === "*" ? "" : spec.version;
      const { pin } = await timeoutOf(repository.spec?.timeout, signal, (limited) =>
        // The index as it was read for the HelmRepository.
        deps.resolver.resolve(location, version, access, {
          ...(isIndex && { since: 0 }),
          signal: limited,
        }),
      ).catch((thrown: unknown) => {
        const error = AppError.from(thrown);
        const isInvalid = isIndex && invalidReferences.has(error.code);
        throw new SourceError(
          isInvalid ? fluxReason.invalidChartReference : fluxReason.chartPullError,
          error.message,
          {
            stalls: isInvalid,
            cause: thrown,
            ...(error instanceof RepositoryError && { retryAfterMs: error.retryAfterMs }),
          },
        );
      });
      const built = withValuesFiles(chart, spec, pin);
      const conditions = await verifyChart(deps.artifacts, pin, access, { spec, secret, signal });
      return {
        ...(conditions !== undefined && { conditions }),
        provenance: [
          location.kind === "http" ? { repository: location.repository } : verifiedBy(spec),
        ],
        name: spec.chart,
        pin: built,
        digest: archiveDigest(pin) ?? digestOf(pin),
        url: describeUrl(pinAddress(pin).replace(/@sha256:.*/, "")),
      };
    },
  };
}

/** How a chart was verified, which it was if it had to be. */
function verifiedBy({ verify }: HelmChartSpec): Provenance[number] {
  return verify?.secretRef === undefined ? {} : { verifiedBy: verify.secretRef.name };
}

async function verifyChart(
  artifacts: Pick<OciArtifacts, "isSigned">,
  pin: DownloadPin,
  access: RepositoryAccess,
  { spec, secret, signal }: Pick<ChartRequest, "spec" | "secret" | "signal">,
): Promise<readonly FluxCondition[] | undefined> {
  if (spec.verify === undefined) return undefined;
  const failure = { reason: chartVerificationError, condition: fluxType.buildFailed } as const;
  if (pin.kind !== "oci")
    throw new SourceError(
      failure.reason,
      "spec.verify is for charts in registries: use a HelmRepository with an address of oci://",
      { condition: failure.condition, stalls: true, isUnverified: true },
    );
  const { repository, manifestDigest: digest, version } = pin;
  const condition = await verifySignature(spec.verify, {
    artifacts,
    query: { repository, access, signal },
    digest,
    secret,
    failure,
    what: `version ${version}`,
  });
  return [condition];
}

/** What is known of an archive that the index has no digest for. */
function digestOf(pin: DownloadPin): string {
  return `sha256:${createHash("sha256").update(canonicalJson(pin)).digest("hex")}`;
}

/** With values files the chart is another one in each generation of the HelmChart, as in Flux. */
function withValuesFiles(
  { metadata }: HelmChart,
  { valuesFiles = [], ignoreMissingValuesFiles }: HelmChartSpec,
  pin: DownloadPin,
): DownloadPin {
  const isOwn =
    valuesFiles.length === 0 || (valuesFiles.length === 1 && valuesFiles[0] === "values.yaml");
  if (isOwn || pin.kind === "tarball") return pin;
  const separator = pin.version.includes("+") ? "." : "+";
  return {
    ...pin,
    version: `${pin.version}${separator}${metadata.generation ?? 0}`,
    build: {
      valuesFiles,
      ...(ignoreMissingValuesFiles === true && { ignoreMissingValuesFiles }),
    },
  };
}
