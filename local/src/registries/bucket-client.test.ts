/** The client of buckets on a real S3 server. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import type { BucketPin, RepositoryAccess } from "@flotilla/shared/source";
import type { BucketLocation } from "@flotilla/shared/source/bucket";
import { createTestClient } from "@flotilla/shared/source/testing";
import { afterAll, describe, test } from "vitest";
import { startTestBucketServer, testDir } from "../testing/index.ts";
import type { BucketServer } from "./start-bucket-server.ts";

const server = await startTestBucketServer({ onTestFinished: afterAll });
const limits = { maxObjects: 2_000, maxBytes: 1024 * 1024 };
const request = { timeoutMs: 60_000 };
const md5 = (text: string): string => createHash("md5").update(text).digest("hex");
const sha256 = (text: string): string =>
  `sha256:${createHash("sha256").update(text).digest("hex")}`;

function accessOf(one: BucketServer): RepositoryAccess {
  return {
    origin: "https://unused",
    username: one.keys.accessKey,
    password: one.keys.secretKey,
    ...(one.caPem !== undefined && { caPem: one.caPem }),
  };
}
const access = accessOf(server);

async function bucketOf(
  bucketName: string,
  files: Readonly<Record<string, string>>,
  on = server,
): Promise<BucketLocation> {
  await on.createBucket(bucketName);
  for (const [key, text] of Object.entries(files)) await on.put(bucketName, key, text);
  return { endpoint: on.endpoint, bucketName, insecure: on.caPem === undefined };
}

function pinOf(location: BucketLocation, digest: string): BucketPin {
  return { kind: "bucket", version: "1.0.0", ...location, digest, path: "chart", build: {} };
}

function failsWith(code: string, message: RegExp) {
  return (thrown: unknown) => {
    assert.ok(thrown instanceof AppError, String(thrown));
    assert.match(thrown.message, message);
    assert.equal(thrown.code, code);
    assert.ok(!thrown.message.includes(server.keys.secretKey));
    return true;
  };
}

test("the digest of a bucket is Flux's, after prefix, ignore rules and directories", async () => {
  await using client = createTestClient();
  const location = await bucketOf("digest", {
    "b/x.yaml": "x",
    "B.yaml": "B",
    "b/y.md": "y",
    "c.txt": "c",
    "b/folder/": "",
    ".sourceignore": "*.md\n",
  });

  const all = await client.buckets.list(location, access, request);
  const below = await client.buckets.list({ ...location, prefix: "b/" }, access, request);
  const ignored = await client.buckets.list(
    { ...location, ignore: "*.yaml\n!*.md\n" },
    access,
    request,
  );

  assert.equal(all.digest, sha256(`B.yaml ${md5("B")}\nb/x.yaml ${md5("x")}\nc.txt ${md5("c")}\n`));
  assert.equal(all.sizeBytes, 3);
  assert.equal(below.digest, sha256(`b/x.yaml ${md5("x")}\n`));
  assert.deepEqual(
    ignored.objects.map(({ key }) => key),
    ["b/y.md", "c.txt"],
  );
});

test("keys with odd characters and empty objects are checked out as they are", async (t) => {
  await using client = createTestClient();
  const files = {
    "a b/c+d.txt": "plus",
    "ü/ñ-日本.txt": "unicode",
    "100%/x%20y.txt": "percent",
    "q?a=b&c#d;e,f'(g)!*~@$:.txt": "signs",
    "<x>&amp;.txt": "xml",
    "empty.txt": "",
  };
  const location = await bucketOf("odd-keys", files);
  const dir = await testDir(t);

  const { digest } = await client.buckets.list(location, access, request);
  await client.buckets.checkout(pinOf(location, digest), dir, access, request);

  for (const [key, text] of Object.entries(files))
    assert.equal(await readFile(join(dir, key), "utf8"), text, key);
  const read = await client.buckets.readObject(
    location,
    { key: "100%/x%20y.txt", maxBytes: 10 },
    access,
    request,
  );
  assert.equal(Buffer.from(read ?? []).toString(), "percent");
  assert.equal(
    await client.buckets.readObject(location, { key: "none", maxBytes: 1 }, access, request),
    undefined,
  );
});

test("1,500 objects are listed over pages and checked out", async (t) => {
  await using client = createTestClient();
  const location = await bucketOf("many", {});
  const keys = Array.from({ length: 1_500 }, (_, at) => `chart/templates/${at}.yaml`);
  for (let at = 0; at < keys.length; at += 50)
    await Promise.all(keys.slice(at, at + 50).map((key) => server.put("many", key, key)));
  const dir = await testDir(t);

  const { digest, objects } = await client.buckets.list(location, access, request);
  await client.buckets.checkout(pinOf(location, digest), dir, access, request);

  assert.equal(objects.length, 1_500);
  assert.equal((await readdir(join(dir, "chart/templates"))).length, 1_500);
  await using few = createTestClient({ bucketLimits: { ...limits, maxObjects: 1_000 } });
  await assert.rejects(
    few.buckets.list(location, access, request),
    failsWith("BUCKET_TOO_LARGE", /has more than 1000 objects/),
  );
});

describe("a bucket", () => {
  test("with wrong credentials, without any, or missing, is an error that says so", async () => {
    await using client = createTestClient();
    const location = await bucketOf("closed", { a: "a" });
    const { password: _, username: __, ...anonymous } = access;

    await assert.rejects(
      client.buckets.list(location, { ...access, password: "wrong" }, request),
      failsWith("BUCKET_UNAUTHORIZED", /SignatureDoesNotMatch.*accesskey and secretkey/),
    );
    await assert.rejects(
      client.buckets.list(location, { ...access, username: "nobody" }, request),
      failsWith("BUCKET_NOT_FOUND", /no bucket of this name, or does not know accesskey/),
    );
    await assert.rejects(
      client.buckets.list(location, anonymous, request),
      failsWith("BUCKET_UNAUTHORIZED", /no credentials are set/),
    );
    await assert.rejects(
      client.buckets.list({ ...location, bucketName: "missing" }, access, request),
      failsWith("BUCKET_NOT_FOUND", /NoSuchBucket.*no bucket of this name/),
    );
  });

  test("whose objects are other ones than the pin's is not checked out", async (t) => {
    await using client = createTestClient();
    const location = await bucketOf("changing", { "a.txt": "one", "b.txt": "two" });
    const { digest, objects } = await client.buckets.list(location, access, request);
    await server.put("changing", "a.txt", "uno");

    await assert.rejects(
      client.buckets.checkout(pinOf(location, digest), await testDir(t), access, request),
      failsWith(
        "BUCKET_CHANGED",
        /now has sha256:.* not sha256:.* that the chart was resolved from/,
      ),
    );
    await assert.rejects(
      client.buckets.readObject(
        location,
        { key: "a.txt", etag: objects[0]?.etag ?? "", maxBytes: 10 },
        access,
        request,
      ),
      failsWith("BUCKET_CHANGED", /object "a.txt" .* changed while it was read/),
    );
  });

  test("with more bytes than the limit, or an invalid name, is refused", async () => {
    await using client = createTestClient({ bucketLimits: limits });
    const location = await bucketOf("large", { a: "x".repeat(1024 * 1024), b: "y" });

    await assert.rejects(
      client.buckets.list(location, access, request),
      failsWith("BUCKET_TOO_LARGE", /has 1 MiB, more than 1 MiB/),
    );
    const { objects } = await client.buckets.list({ ...location, ignore: "b" }, access, request);
    assert.equal(objects.length, 1);
    for (const broken of [{ bucketName: "../x" }, { endpoint: "http://h/" }, { region: "a b" }])
      await assert.rejects(
        client.buckets.list({ ...location, ...broken }, access, request),
        failsWith("BUCKET_INVALID", /is not a name of a bucket|is not HOST|is invalid/),
      );
  });

  test("is read over TLS with its own authority, in its own region", async (t) => {
    const secure = await startTestBucketServer(t, { tls: true, region: "eu-north-7" });
    await using client = createTestClient();
    const location = await bucketOf("secure", { a: "a" }, secure);

    const { objects } = await client.buckets.list(location, accessOf(secure), request);
    assert.equal(objects.length, 1);
    await assert.rejects(
      client.buckets.list(location, access, request),
      failsWith("BUCKET_REQUEST", /certificate signed by unknown authority/),
    );
  });
});
