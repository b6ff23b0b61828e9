/** The pin of the chart in an artifact of an OCIRepository. Pure. */

import { AppError } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { OciPin } from "@flotilla/shared/source";
import { chartVersionOf, type OciArtifact, type OciRevision } from "@flotilla/shared/source/oci";
import type { ChartProblem } from "../helmchart/artifact.ts";

/** The pin, or why there is none. */
export function chartPinOf(
  repository: string,
  revision: OciRevision,
  { chart, layer }: OciArtifact,
): OciPin | ChartProblem {
  if (chart === undefined)
    return {
      reason: fluxReason.artifactFailed,
      message:
        "the artifact is not a Helm chart: push it with `helm push`, so that its manifest has the chart's metadata",
    };
  const version = chartVersionOf(chart.version, revision);
  if (version instanceof AppError)
    return { reason: fluxReason.chartMutateError, message: version.message };
  return {
    kind: "oci",
    version,
    repository,
    tag: revision.tag ?? revision.digest,
    manifestDigest: revision.digest,
    layerDigest: layer.digest,
    layerSizeBytes: layer.sizeBytes,
    // The agent writes the version into Chart.yaml, as Flux does.
    build: {},
  };
}
