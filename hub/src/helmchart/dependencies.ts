/** The repositories that the chart of a HelmChart has dependencies from. Pure. */
import type { HelmChart } from "@flotilla/shared/flux";
import { dependencyRepositories, parseChartMetadata } from "@flotilla/shared/source/chartbuild";
import type { PinSigner } from "../resolve/index.ts";
import { dependenciesOfArtifact } from "./artifact.ts";

/** None for a Chart.yaml that cannot be read, which the agents report when they make the chart. */
export function repositoriesOf(
  chartFile: string,
  requirements: string | undefined,
): readonly string[] {
  try {
    return dependencyRepositories(parseChartMetadata(chartFile, { requirements }));
  } catch {
    return [];
  }
}

/** Those of a chart that is not made again, because its version is the same; `found`: in the files as they are now. */
export function keptDependencies(
  chart: HelmChart,
  found: readonly string[],
  signer: Pick<PinSigner, "isSigned">,
): readonly string[] {
  return dependenciesOfArtifact(chart, chart.status?.artifact, signer) ?? found;
}
