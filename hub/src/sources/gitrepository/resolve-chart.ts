/** A HelmChart to its pin, in the tree of a GitRepository. */
import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { GitRepository, HelmChart } from "@flotilla/shared/flux";
import { describeUrl, type GitPin } from "@flotilla/shared/source";
import type { ReadChart } from "../../base/index.ts";
import type { PinSigner } from "../../rules/index.ts";
import { noSourceArtifact } from "../fluxsource/source-error.ts";
import { pinOfArtifact } from "../helmchart/artifact.ts";
import { invalidChart, readChartFile } from "../helmchart/chart-file.ts";
import type { ChartRequest, ResolvedChart } from "../helmchart/chart-source.ts";
import { keptDependencies } from "../helmchart/dependencies.ts";
import { type Provenance, provenanceOfArtifact } from "../helmchart/provenance.ts";
import { keepMadeChart, presentValuesFiles, treeChartVersion } from "../helmchart/tree-chart.ts";
import { gitAccess, timeoutMsOf } from "./access.ts";
import { chartPaths } from "./chart-paths.ts";
import type { KeptCommits } from "./kept-commits.ts";
import { treeDigest } from "./tree.ts";
import type { TreeFile } from "./tree-files.ts";
import { readWholeTree, type TreeInputs, type WholeTreeParts } from "./whole-tree.ts";

export interface ResolveChartParts extends WholeTreeParts {
  readonly keptCommits: KeptCommits;
  readonly readChart: ReadChart;
  readonly signer: Pick<PinSigner, "isSigned">;
}

/** What the tree has of a chart. */
interface ChartInTree {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly repositories: readonly string[];
  /** The values files of the spec that exist, and their paths. */
  readonly valuesFiles: readonly string[];
  readonly valuesPaths: readonly string[];
}

/** The pin of the artifact of a GitRepository. Throws a SourceError when this hub has not made it. */
export function treeOf(
  { metadata, status }: GitRepository,
  signer: Pick<PinSigner, "isSigned">,
): GitPin {
  const tree = pinOfArtifact("GitRepository", metadata, status?.artifact, signer);
  if (tree?.kind === "git") return tree;
  throw noSourceArtifact(
    `the artifact of the GitRepository ${metadata.name} is not from this hub; continuing as soon as it is reconciled`,
  );
}

/**
 * Reads the chart at the commit of the artifact. A chart that was made earlier stays while its version does and agents can fetch its
 * commit. Throws a SourceError, and what the client of Git throws.
 */
export async function resolveChart(
  parts: ResolveChartParts,
  inputs: TreeInputs,
  { chart, spec }: Pick<ChartRequest, "chart" | "spec">,
): Promise<ResolvedChart> {
  const { repository, tree } = inputs;
  const { signer } = parts;
  const found = await readChartInTree(parts, inputs, spec);
  const { name, path, repositories, valuesFiles, valuesPaths } = found;
  const pin: GitPin = {
    ...tree,
    version: treeChartVersion(chart, found.version, tree.commit),
    path,
    build: { ...(valuesPaths.length > 0 && { valuesFiles: valuesPaths }) },
  };
  const result = await keepIfThere(parts, inputs, { chart, name, pin });
  // The chart that was made earlier may be the same.
  const isOfNow = isDeepStrictEqual(result, pin);
  return {
    name,
    pin: result,
    provenance: isOfNow
      ? provenanceOf("GitRepository", repository, signer)
      : provenanceOf("HelmChart", chart, signer),
    dependencies: result === pin ? repositories : keptDependencies(chart, repositories, signer),
    digest: treeDigest(result),
    url: describeUrl(tree.url),
    ...(spec.ignoreMissingValuesFiles === true && { valuesFiles }),
  };
}

async function readChartInTree(
  parts: ResolveChartParts,
  inputs: TreeInputs,
  spec: ChartRequest["spec"],
): Promise<ChartInTree> {
  const { tree } = inputs;
  const commit = `commit ${tree.commit} of ${describeUrl(tree.url)}`;
  const { chart: path, valuesFiles } = chartPaths(spec, commit);
  const chartFile = posix.join(path, "Chart.yaml");
  const requirementsFile = posix.join(path, "requirements.yaml");
  const files = await readWholeTree(parts, inputs, {
    contents: [...(path === "." ? [] : [path]), chartFile, requirementsFile],
    listed: [...new Set(valuesFiles.values())],
  });
  const where = `${path} of ${commit}`;
  const packaged = files.content(path);
  const text = textOf(packaged) ?? textOf(files.content(chartFile));
  if (text === undefined)
    throw invalidChart(
      where,
      "there is neither a Chart.yaml below it nor a packaged chart: spec.chart is a path from the root of the repository",
    );
  // A packaged chart has its dependencies in it.
  const isPackaged = packaged !== undefined;
  const requirements = isPackaged ? undefined : textOf(files.content(requirementsFile));
  const read = await readChartFile(parts.readChart, { chart: text, requirements }, where);
  const exists = (file: string): boolean => files.has(valuesFiles.get(file) ?? "");
  const present = presentValuesFiles(spec, exists, commit);
  return {
    name: read.name,
    version: read.version,
    path,
    repositories: isPackaged ? [] : read.repositories,
    valuesFiles: present,
    valuesPaths: present.flatMap((file) => valuesFiles.get(file) ?? []),
  };
}

/** The pin of the chart that was made earlier, if it may stay, or else the new one. */
async function keepIfThere(
  parts: ResolveChartParts,
  { repository, tree, secret, signal }: TreeInputs,
  made: { readonly chart: HelmChart; readonly name: string; readonly pin: GitPin },
): Promise<GitPin> {
  const { chart, name, pin } = made;
  const before = pinOfArtifact("HelmChart", chart.metadata, chart.status?.artifact, parts.signer);
  const kept = keepMadeChart(chart, before?.kind === "git" ? before : undefined, { name, pin });
  // From another address it may be fetched with other credentials.
  if (kept === pin || kept.url !== tree.url) return kept;
  const access = await gitAccess(repository, { secret, signal }, parts);
  const { uid = "" } = repository.metadata;
  const request = { access, signal, timeoutMs: timeoutMsOf(repository) };
  return (await parts.keptCommits.isThere({ uid, ...kept }, tree, request)) ? kept : pin;
}

function provenanceOf(
  kind: "GitRepository" | "HelmChart",
  { metadata, status }: GitRepository | HelmChart,
  signer: Pick<PinSigner, "isSigned">,
): Provenance {
  return provenanceOfArtifact(kind, metadata, status?.artifact, signer) ?? [];
}

/** The text of a file, or the Chart.yaml of a packaged chart. Throws why that has none. */
function textOf(file: TreeFile | undefined): string | undefined {
  if (file?.kind !== "archive") return file?.text;
  if (typeof file.chart === "string") return file.chart;
  throw file.chart;
}
