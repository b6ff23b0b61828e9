/** The repositories that the chart of a HelmChart has dependencies from. Pure. */
import type { HelmChart } from "@flotilla/shared/flux";
import type { PinSigner } from "../../rules/index.ts";
import { dependenciesOfArtifact } from "./artifact.ts";

/** The dependencies of a chart that is not made again, because its version is the same; `found`: in the files as they are now. */
export function keptDependencies(
  chart: HelmChart,
  found: readonly string[],
  signer: Pick<PinSigner, "isSigned">,
): readonly string[] {
  return dependenciesOfArtifact(chart, chart.status?.artifact, signer) ?? found;
}
