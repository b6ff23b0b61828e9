/** Charts of Buckets: a directory of objects, or a packaged chart that is an object. */
import type { Bucket } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import {
  type BucketClient,
  type BucketListing,
  bucketAddress,
} from "@flotilla/shared/source/bucket";
import {
  addressOf,
  type BucketListings,
  bucketAccess,
  bucketLocation,
  requestTimeoutMs,
  secretsOfBucket,
} from "../bucket/index.ts";
import { isUsable, SourceError, timeoutOf } from "../fluxsource/index.ts";
import {
  chartFileOfArchive,
  invalidChart,
  parseChartFile,
  treeChartVersion,
} from "./chart-file.ts";
import type { ChartFromSource, ChartRequest } from "./chart-source.ts";

/** Flux's limits of a packaged chart and of a file in it. */
const maxArchiveBytes = 10 * 1024 * 1024;
const maxChartFileBytes = 5 * 1024 * 1024;

export function chartsOfBuckets(deps: {
  readonly store: Pick<Store<Bucket>, "get">;
  readonly client: Pick<BucketClient, "readObject">;
  readonly listings: BucketListings;
}): ChartFromSource<Bucket> {
  const revisionOf = (bucket: Bucket): string | undefined =>
    isUsable(bucket) ? bucket.status?.artifact?.revision : undefined;

  async function resolve(bucket: Bucket, { chart, spec, secret, signal }: ChartRequest) {
    const revision = revisionOf(bucket) ?? "";
    const location = bucketLocation(bucket);
    const access = bucketAccess(bucket, location, secret);
    const listing = await deps.listings.at(bucket, revision, { location, access, signal });
    const path = pathOf(spec.chart);
    const where = `${path} of bucket ${bucketAddress(location)} (${revision})`;
    const found = findChart(listing, path);
    if (found === undefined)
      throw invalidChart(where, "there is neither a Chart.yaml below it nor an object of this key");
    const bytes = await deps.client.readObject(
      location,
      {
        ...{ key: found.key, etag: found.etag },
        maxBytes: found.isArchive ? maxArchiveBytes : maxChartFileBytes,
      },
      access,
      { signal, timeoutMs: requestTimeoutMs },
    );
    if (bytes === undefined)
      throw new SourceError("NoSourceArtifact", `object ${found.key} of ${where} is gone`);
    const text = found.isArchive
      ? await chartFileOfArchive(bytes, where)
      : Buffer.from(bytes).toString("utf8");
    const { name, version } = parseChartFile(text, where);
    const { valuesFiles = [], ignoreMissingValuesFiles } = spec;
    const present = presentFiles(listing, valuesFiles, ignoreMissingValuesFiles === true);
    const hex = revision.slice("sha256:".length);
    return {
      name,
      pin: {
        kind: "bucket" as const,
        version: treeChartVersion(chart, version, hex),
        ...location,
        digest: listing.digest,
        path,
        build: {
          ...(valuesFiles.length > 0 && { valuesFiles }),
          ...(ignoreMissingValuesFiles === true && { ignoreMissingValuesFiles }),
        },
      },
      digest: listing.digest,
      url: bucketAddress(location),
      ...(ignoreMissingValuesFiles === true && { valuesFiles: present }),
    };
  }

  return {
    find: (key) => deps.store.get(key),
    secretsOf: secretsOfBucket,
    revisionOf,
    addressOf,
    isPolled: () => false,
    resolve: (bucket, request) =>
      timeoutOf(bucket.spec?.timeout, request.signal, (signal) =>
        resolve(bucket, { ...request, signal }),
      ),
  };
}

interface FoundChart {
  readonly key: string;
  readonly etag: string;
  readonly isArchive: boolean;
}

/** The object that says what the chart is: its Chart.yaml, or the package. */
function findChart({ objects }: BucketListing, path: string): FoundChart | undefined {
  const file = path === "." ? "Chart.yaml" : `${path}/Chart.yaml`;
  const found = objects.find(({ key }) => key === path || key === file);
  return found && { key: found.key, etag: found.etag, isArchive: found.key === path };
}

function presentFiles(
  { objects }: BucketListing,
  files: readonly string[],
  isMissingIgnored: boolean,
): readonly string[] {
  const keys = new Set(objects.map(({ key }) => key));
  const missing = files.filter((file) => !keys.has(pathOf(file)));
  if (missing[0] !== undefined && !isMissingIgnored)
    throw new SourceError(
      "ValuesFilesError",
      `values file ${missing[0]} is not in the bucket: spec.valuesFiles has paths from its root`,
      { condition: "BuildFailed", stalls: true },
    );
  return files.filter((file) => !missing.includes(file));
}

/** From the root of the bucket, without `.`; `.` is the root itself. */
function pathOf(path: string): string {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes(".."))
    throw invalidChart(JSON.stringify(path), "the path climbs out of the bucket");
  return names.length === 0 ? "." : names.join("/");
}
