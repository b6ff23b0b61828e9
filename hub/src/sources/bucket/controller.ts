/** The controller of Buckets: lists the objects of each in its interval. Agents fetch them themselves. */

import { type Bucket, buckets } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { bucketAddress } from "@flotilla/shared/source/bucket";
import type { FluxInformers } from "../../base/index.ts";
import { secretNames } from "../fluxsource/access.ts";
import {
  createSourceController,
  type SourceController,
  type SourceControllerDeps,
} from "../fluxsource/source-controller.ts";
import type { SourceResult } from "../fluxsource/source-status.ts";
import { timeoutOf } from "../fluxsource/timeout.ts";
import type { BucketListings } from "./listings.ts";
import { addressOf, bucketAccess, bucketLocation } from "./location.ts";

export interface BucketDeps extends SourceControllerDeps {
  readonly flux: Pick<FluxInformers, "buckets">;
  readonly listings: BucketListings;
}

export function createBucketController(deps: BucketDeps): SourceController<Bucket> {
  return createSourceController<Bucket>(
    {
      name: "bucket",
      resource: buckets,
      failureReason: fluxReason.bucketOperationFailed,
      intervalOf: ({ spec }) => spec?.interval,
      addressOf,
      secretsOf: secretsOfBucket,
      isDamaged: (bucket) => deps.listings.isChanged(bucket),
      async read(bucket, { secret, signal }): Promise<SourceResult> {
        const location = bucketLocation(bucket);
        const access = bucketAccess(bucket, location, secret);
        const { digest, sizeBytes } = await timeoutOf(bucket.spec?.timeout, signal, (limited) =>
          deps.listings.read(bucket, { location, access, signal: limited }),
        );
        const { namespace, name } = bucket.metadata;
        const url = bucketAddress(location);
        return {
          artifact: {
            revision: digest,
            digest,
            size: sizeBytes,
            url,
            path: `bucket/${namespace}/${name}/${digest.slice("sha256:".length)}.tar.gz`,
          },
          message: `stored artifact: revision '${digest}'`,
          fields: { url, observedIgnore: bucket.spec?.ignore },
        };
      },
    },
    deps.flux.buckets,
    { ...deps, watches: [deps.listings.changes] },
  );
}

/** The names of the Secrets that a bucket is read with. */
export function secretsOfBucket({ spec }: Bucket): readonly string[] {
  return spec === undefined ? [] : secretNames({ ...spec, url: "" });
}
