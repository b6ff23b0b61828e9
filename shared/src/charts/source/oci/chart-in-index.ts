/**
 * The chart in an index, beside images: Helm pulls it from there, and reads the entries of the index for it. Where there are
 * several charts Helm takes any of them; here the one with the name of the repository.
 */
import * as z from "zod";
import { AppError } from "../../../runtime/errors/index.ts";
import { chartErrors, sha256Schema } from "../index.ts";

/** The media types of the layer with the archive; the first that a manifest has counts. */
export const chartLayers: readonly string[] = [
  "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
  "application/tar+gzip",
];
/** The media type of the metadata of a chart. */
export const helmConfig = "application/vnd.cncf.helm.config.v1+json";

export const indexSchema = z.object({
  manifests: z.array(
    z.object({
      mediaType: z.string().optional(),
      artifactType: z.string().optional(),
      digest: sha256Schema,
      annotations: z.record(z.string(), z.string()).nullish(),
      platform: z.object({ os: z.string(), architecture: z.string() }).nullish(),
    }),
  ),
});

export type OciIndex = z.infer<typeof indexSchema>;

const childSchema = z.object({
  config: z.object({ mediaType: z.string() }).nullish(),
  layers: z.array(z.object({ mediaType: z.string() })),
  annotations: z.record(z.string(), z.string()).nullish(),
});

/** A manifest that was read, and the request for it. */
export interface ReadManifest {
  readonly request: string;
  readonly json: unknown;
}

interface ChartInIndex extends ReadManifest {
  /** As `helm push` writes it; undefined without one. */
  readonly title: string | undefined;
}

/** Manifests that are read to find out whether they are charts. */
const mostRead = 16;
const title = "org.opencontainers.image.title";
const nestedIndexes = new Set([
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
]);

/**
 * The manifest of the chart in an index; undefined when there is none. Throws CHART_NOT_FOUND when there are several and none, or
 * more than one, has the name of the repository. `read` gets a manifest by its digest, and checks it.
 */
export async function findChart(
  index: OciIndex,
  { repository, name }: { readonly repository: string; readonly name: string },
  read: (digest: string) => Promise<ReadManifest>,
): Promise<ReadManifest | undefined> {
  const charts: ChartInIndex[] = [];
  for (const digest of candidates(index)) {
    const manifest = await read(digest);
    const found = chartIn(manifest);
    if (found !== undefined) charts.push(found);
  }
  const [first, ...others] = charts;
  if (others.length === 0) return first;
  const own = repository.slice(repository.lastIndexOf("/") + 1);
  const [named, ...same] = charts.filter((each) => each.title === own);
  if (named !== undefined && same.length === 0) return named;
  const titles = charts.map((each) => `"${each.title ?? ""}"`).join(", ");
  throw new AppError(
    chartErrors.CHART_NOT_FOUND,
    `${name} is an index of ${charts.length} charts (${titles}), of which not exactly one has the title "${own}": publish one chart under a tag`,
  );
}

/** The digests of the entries that may be charts: those that say so, otherwise all that say nothing else. Pure. */
export function candidates({ manifests }: OciIndex): readonly string[] {
  const declared = manifests.filter(({ artifactType }) => artifactType === helmConfig);
  const possible = manifests.filter(
    ({ artifactType, mediaType = "" }) =>
      (artifactType ?? "") === "" && !nestedIndexes.has(mediaType),
  );
  const read = declared.length > 0 ? declared : possible;
  return [...new Set(read.map(({ digest }) => digest))].slice(0, mostRead);
}

function chartIn(manifest: ReadManifest): ChartInIndex | undefined {
  const child = childSchema.safeParse(manifest.json).data;
  if (child?.config?.mediaType !== helmConfig) return undefined;
  if (!child.layers.some(({ mediaType }) => chartLayers.includes(mediaType))) return undefined;
  return { ...manifest, title: child.annotations?.[title] };
}
