/** Charts of Buckets: a directory of objects, or a packaged chart that is an object. */
import type { FairSemaphore } from "@flotilla/shared/concurrency";
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
import type { ReadChart } from "../../base/index.ts";
import type { PinSigner } from "../../rules/index.ts";
import { secretsOfBucket } from "../bucket/controller.ts";
import { type BucketListings, requestTimeoutMs } from "../bucket/listings.ts";
import { addressOf, bucketAccess, bucketLocation } from "../bucket/location.ts";
import { noSourceArtifact } from "../fluxsource/source-error.ts";
import { isUsable } from "../fluxsource/source-status.ts";
import { timeoutOf } from "../fluxsource/timeout.ts";
import { pinOfArtifact } from "./artifact.ts";
import {
  chartFileOfArchive,
  invalidChart,
  maxArchiveBytes,
  maxChartFileBytes,
  readChartFile,
} from "./chart-file.ts";
import type { ChartFromSource, ChartRequest } from "./chart-source.ts";
import { keptDependencies } from "./dependencies.ts";
import { keepMadeChart, presentValuesFiles, treeChartVersion } from "./tree-chart.ts";

export function chartsOfBuckets(deps: {
  readonly store: Pick<Store<Bucket>, "get">;
  readonly client: Pick<BucketClient, "readObject">;
  readonly listings: BucketListings;
  readonly signer: Pick<PinSigner, "isSigned">;
  /** For the bytes of objects while they are read, in all of the hub. */
  readonly budget: FairSemaphore;
  readonly readChart: ReadChart;
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
    async function read({ key, etag }: BucketObject, maxBytes: number): Promise<Uint8Array> {
      const bytes = await deps.client
        .readObject(location, { key, etag, maxBytes }, access, {
          signal,
          timeoutMs: requestTimeoutMs,
        })
        .catch((thrown: unknown) => {
          if (AppError.from(thrown).code === bucketErrors.BUCKET_CHANGED.code)
            deps.listings.changed(bucket);
          throw thrown;
        });
      if (bytes !== undefined) return bytes;
      deps.listings.changed(bucket);
      throw noSourceArtifact(`object ${key} of ${where} is gone`);
    }
    const readText = async (object: BucketObject) =>
      Buffer.from(await read(object, maxChartFileBytes)).toString("utf8");
    /** While an archive arrives, and until only its Chart.yaml is left of it, its bytes count. */
    const readArchive = () =>
      deps.budget.run(
        { caller: bucket.metadata.namespace ?? "", weight: maxArchiveBytes, signal },
        async () => chartFileOfArchive(await read(found, maxArchiveBytes), where),
      );
    const text = found.isArchive ? await readArchive() : await readText(found);
    // A packaged chart has its dependencies in it.
    const required = found.isArchive ? undefined : requirementsOf(listing, path);
    const requirements = required && (await readText(required));
    const file = await readChartFile(deps.readChart, { chart: text, requirements }, where);
    const { name, version } = file;
    const repositories = found.isArchive ? [] : file.repositories;
    const keys = new Set(listing.objects.map(({ key }) => key));
    const present = presentValuesFiles(
      spec,
      (file) => keys.has(pathOf(file)),
      `bucket ${bucketAddress(location)} (${revision})`,
    );
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
    // One from another address is not kept: agents have to fetch it where the bucket is now.
    const isSamePlace =
      before?.kind === "bucket" &&
      bucketAddress(before) === bucketAddress(location) &&
      before.region === location.region;
    const result = keepMadeChart(chart, isSamePlace ? before : undefined, { name, pin });
    return {
      name,
      pin: result,
      digest: result.digest,
      url: bucketAddress(location),
      dependencies:
        result === pin ? repositories : keptDependencies(chart, repositories, deps.signer),
      ...(spec.ignoreMissingValuesFiles === true && { valuesFiles: present }),
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

interface BucketObject {
  readonly key: string;
  readonly etag: string;
}

interface FoundChart extends BucketObject {
  readonly isArchive: boolean;
}

/** The object that says what the chart is: its Chart.yaml, or the package. */
function findChart({ objects }: BucketListing, path: string): FoundChart | undefined {
  const file = path === "." ? "Chart.yaml" : `${path}/Chart.yaml`;
  const found = objects.find(({ key }) => key === path || key === file);
  return found && { key: found.key, etag: found.etag, isArchive: found.key === path };
}

/** Where a chart of `apiVersion: v1` has its dependencies. */
function requirementsOf({ objects }: BucketListing, path: string): BucketObject | undefined {
  const key = path === "." ? "requirements.yaml" : `${path}/requirements.yaml`;
  return objects.find((each) => each.key === key);
}

/** From the root of the bucket, without `.`; `.` is the root itself. */
function pathOf(path: string): string {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes(".."))
    throw invalidChart(JSON.stringify(path), "the path climbs out of the bucket");
  return names.length === 0 ? "." : names.join("/");
}
