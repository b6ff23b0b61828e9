/** Charts of Buckets: a directory of objects, or a packaged chart that is an object. */
import { AppError } from "@flotilla/shared/errors";
import type { Bucket } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import type { BucketPin } from "@flotilla/shared/source";
import {
  type BucketClient,
  type BucketListing,
  type BucketLocation,
  bucketAddress,
  bucketErrors,
  objectsDigest,
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
import type { PinSigner } from "../resolve/index.ts";
import { pinOfArtifact } from "./artifact.ts";
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
  readonly signer: Pick<PinSigner, "isSigned">;
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
    const { key, etag } = found;
    const maxBytes = found.isArchive ? maxArchiveBytes : maxChartFileBytes;
    const bytes = await deps.client
      .readObject(location, { key, etag, maxBytes }, access, {
        ...{ signal, timeoutMs: requestTimeoutMs },
      })
      .catch((thrown: unknown) => {
        if (AppError.from(thrown).code === bucketErrors.BUCKET_CHANGED.code)
          deps.listings.changed(bucket);
        throw thrown;
      });
    if (bytes === undefined) {
      deps.listings.changed(bucket);
      throw new SourceError("NoSourceArtifact", `object ${key} of ${where} is gone`);
    }
    const text = found.isArchive
      ? await chartFileOfArchive(bytes, where)
      : Buffer.from(bytes).toString("utf8");
    const { name, version } = parseChartFile(text, where);
    const { valuesFiles = [], ignoreMissingValuesFiles } = spec;
    const present = presentFiles(listing, valuesFiles, ignoreMissingValuesFiles === true);
    const hex = revision.slice("sha256:".length);
    const needsOthers = present.some((file) => !isBelow(path, file)) || /file:/.test(text);
    const pin: BucketPin = {
      kind: "bucket",
      version: treeChartVersion(chart, version, hex),
      ...location,
      ...(needsOthers ? { digest: listing.digest } : scopeOf(listing, location, found, path)),
      path,
      build: { ...(present.length > 0 && { valuesFiles: present.map(pathOf) }) },
    };
    const before = pinOfArtifact("HelmChart", chart.metadata, chart.status?.artifact, deps.signer);
    // An equal version is not made again until the HelmChart itself changes, as in Flux, or agents have to fetch it elsewhere.
    const isSame =
      before?.kind === "bucket" &&
      before.version === pin.version &&
      chart.status?.observedChartName === name &&
      chart.status.observedGeneration === chart.metadata.generation &&
      bucketAddress(before) === bucketAddress(location) &&
      before.region === location.region;
    const result = isSame ? before : pin;
    return {
      name,
      pin: result,
      digest: result.digest,
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

/** The objects of the chart alone, so that it stays the same and can be fetched when others of the bucket change. */
function scopeOf(
  { objects }: BucketListing,
  location: BucketLocation,
  { isArchive }: FoundChart,
  path: string,
): { readonly prefix?: string; readonly digest: string } {
  const own = path === "." ? "" : isArchive ? path : `${path}/`;
  const { prefix: outer = "" } = location;
  const prefix = outer.length > own.length ? outer : own;
  const digest = objectsDigest(objects.filter(({ key }) => key.startsWith(prefix)));
  return { ...(prefix !== "" && { prefix }), digest };
}

function isBelow(directory: string, file: string): boolean {
  return directory === "." || pathOf(file).startsWith(`${directory}/`);
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
