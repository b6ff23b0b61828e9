import assert from "node:assert/strict";
import type { Bucket } from "@flotilla/shared/flux";
import type { BucketListing, BucketLocation } from "@flotilla/shared/source/bucket";
import { test } from "vitest";
import { createBucketListings } from "./listings.ts";

test("a namespace whose buckets do not respond holds up its own lists, and those of no other", async () => {
  const asked: string[] = [];
  const stop = new AbortController();
  const listings = createBucketListings({
    list({ bucketName }) {
      asked.push(bucketName);
      return new Promise<BucketListing>((_, reject) => {
        stop.signal.addEventListener("abort", () => reject(new Error("stopped")));
      });
    },
  });
  const list = (namespace: string, bucketName: string): Promise<unknown> => {
    const bucket: Bucket = { metadata: { namespace, name: bucketName, uid: bucketName } };
    const location: BucketLocation = { endpoint: "s3.example", bucketName };
    const access = { origin: "https://s3.example" };
    return listings.read(bucket, { location, access, signal: stop.signal });
  };

  const all = [list("a", "a1"), list("a", "a2"), list("a", "a3"), list("b", "b1")];
  await Promise.resolve();

  assert.deepEqual(asked, ["a1", "a2", "b1"]);
  stop.abort();
  for (const { status } of await Promise.allSettled(all)) assert.equal(status, "rejected");
});
