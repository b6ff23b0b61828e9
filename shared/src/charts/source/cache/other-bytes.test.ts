/** Sources that may send other bytes under the same pin: what the first cluster received binds the others. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { describe, it } from "vitest";
import { type BucketPin, type DownloadPin, describePin, type Pin, pinDigest } from "../index.ts";
import { digestOf, send } from "../testing/index.ts";
import { ChartCache } from "./chart-cache.ts";
import { accessAt, archive, digest, setUp } from "./testing/index.ts";

const other = gzipSync("another chart");

describe("an archive without a digest", () => {
  it("is bound by nothing: its address may send something new", async () => {
    let bytes: Uint8Array = archive;
    await using at = await setUp((_, response) => send(response, 200, bytes));
    const pin: DownloadPin = { kind: "tarball", url: `${at.server.origin}/x.tgz` };
    const sources = [{ pin: pinDigest(pin), digest }];

    bytes = other;
    const file = await at.cache.fetch(pin, accessAt(at.server), { sources });

    assert.equal(file.digest, digestOf(other));
    assert.equal(file.source, undefined);
  });
});

describe("a chart that is made of the objects of a bucket", () => {
  const pin: BucketPin = {
    ...{ kind: "bucket", version: "1.0.0", endpoint: "s3.example.com", bucketName: "box" },
    ...{ digest: digestOf("keys and etags"), path: "chart", build: {} },
  };
  const access = { origin: "" };
  const [one, two] = [digestOf("the bytes"), digestOf("other bytes")];

  it("is refused where another cluster received other objects, also if an earlier process has made it", async () => {
    await using at = await setUp((_, response) => send(response, 404));
    let sourceDigest = one;
    let made = 0;
    const newCache = () =>
      new ChartCache<Pin>(
        {
          async fetch(_, write) {
            made += 1;
            await write(archive);
            return { digest, sizeBytes: archive.length, sourceDigest };
          },
        },
        { dir: at.dir },
      );
    const first = newCache();
    const { source } = await first.fetch(pin, access);
    assert.deepEqual(source, { pin: pinDigest(pin), digest: one });
    const sources = [source];
    await first.fetch(pin, access, { sources });
    assert.equal(made, 1, "what is known is not made again");

    const second = newCache();
    assert.equal((await second.fetch(pin, access)).source, undefined);
    assert.equal(made, 1);
    await second.fetch(pin, access, { sources });
    assert.equal(made, 2, "what an earlier process made it from is not known");

    sourceDigest = two;
    const third = newCache();
    await assert.rejects(third.fetch(pin, access, { sources }), {
      code: "CHART_DIGEST_MISMATCH",
      message: `the source of ${describePin(pin)} sent ${two}, and the first cluster of this Bundle got ${one} for the same revision; nothing was installed: compare what the source sends to both, or publish the chart again`,
    });

    sourceDigest = one;
    await third.fetch(pin, access, { sources });
  });
});
