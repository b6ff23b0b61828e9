/**
 * A chart without its templates: Helm lists the CustomResourceDefinitions of it and of its enabled subcharts, as of the chart itself,
 * and renders nothing. A template that asks for an API of the cluster, or fails, decides nothing about them, as in Flux.
 */
import { toHelmJson } from "@flotilla/shared/yaml";
import { buildError, buildLimits, type ChartFiles, metadataOf } from "./chart-files.ts";
import { readChartArchive } from "./read-archive.ts";

/** Charts within charts. */
const maxDepth = 10;

/** What decides about definitions: the metadata and the values, which enable subcharts, and the definitions. */
const keptFile =
  /^(Chart\.yaml|Chart\.lock|requirements\.yaml|requirements\.lock|values\.yaml|crds\/.*)$/s;

/** Whether a file is a definition of a chart, or of a subchart in a folder. */
export function isDefinition(path: string): boolean {
  return /^(charts\/[^/]+\/)*crds\//.test(path);
}

/** Packaged subcharts become folders. Throws CHART_BUILD. */
export async function definitionFiles(files: ChartFiles, depth = 0): Promise<ChartFiles> {
  if (depth > maxDepth) throw buildError(`it has more than ${maxDepth} charts within charts`);
  const kept = new Map<string, Buffer>();
  const folders = new Map<string, Map<string, Buffer>>();
  for (const [path, bytes] of files) {
    if (keptFile.test(path)) kept.set(path, bytes);
    const [, name = "", rest] = /^charts\/([^/._][^/]*)(?:\/(.*))?$/s.exec(path) ?? [];
    if (name === "") continue;
    if (rest !== undefined) folders.set(name, (folders.get(name) ?? new Map()).set(rest, bytes));
    else if (name.endsWith(".tgz")) {
      const subchart = await readChartArchive(bytes, `read ${path}`, buildLimits);
      for (const [inner, innerBytes] of await definitionFiles(subchart, depth + 1))
        kept.set(`charts/${name.slice(0, -".tgz".length)}/${inner}`, innerBytes);
    }
  }
  for (const [name, subchart] of folders)
    for (const [inner, bytes] of await definitionFiles(subchart, depth + 1))
      kept.set(`charts/${name}/${inner}`, bytes);
  return depth === 0 ? withoutKubeVersion(kept) : kept;
}

/** Helm compares it with a version of its own where there is no cluster. */
function withoutKubeVersion(files: Map<string, Buffer>): ChartFiles {
  const { kubeVersion: _, ...fields } = metadataOf(files).fields;
  return files.set("Chart.yaml", Buffer.from(`${toHelmJson(fields)}\n`));
}
