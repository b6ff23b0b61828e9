import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, onTestFinished } from "vitest";
import { AppError } from "../../../runtime/errors/index.ts";
import type { BucketPin } from "../index.ts";
import { createTestClient, type Respond, send, startTestServer } from "../testing/index.ts";
import { objectsDigest } from "./listing.ts";
import { type BucketLocation, requestUrl } from "./location.ts";

const access = { origin: "", username: "key", password: "secret" };
const request = { timeoutMs: 20_000 };

function page(objects: Readonly<Record<string, string>>, rest = ""): string {
  const contents = Object.entries(objects).map(
    ([key, text]) =>
      `<Contents><Key>${key}</Key><ETag>&quot;${text}&quot;</ETag><Size>${text.length}</Size></Contents>`,
  );
  return `<?xml version="1.0"?><ListBucketResult>${contents.join("")}${rest}</ListBucketResult>`;
}

async function bucketOf(
  respond: Respond,
): Promise<BucketLocation & { paths(): readonly string[] }> {
  const server = await startTestServer(respond);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { endpoint: server.host, bucketName: "box", insecure: true, paths: server.paths };
}

async function testDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "bucket-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

function pinOf(
  { endpoint, bucketName }: BucketLocation,
  objects: Record<string, string>,
): BucketPin {
  const listed = Object.entries(objects).map(([key, etag]) => ({
    key,
    etag,
    sizeBytes: etag.length,
  }));
  return {
    ...{ kind: "bucket", version: "1.0.0", endpoint, bucketName, insecure: true },
    ...{ digest: objectsDigest(listed), path: "chart", build: {} },
  };
}

function failsWith(code: string, message: RegExp) {
  return (thrown: unknown) => {
    assert.ok(thrown instanceof AppError, String(thrown));
    assert.match(thrown.message, message);
    assert.equal(thrown.code, code);
    return true;
  };
}

describe("a bucket", () => {
  const replaced: readonly (readonly [name: string, respond: Respond, message: RegExp])[] = [
    ["is refused by the server", (_, to) => send(to, 412), /object "a" .* changed while/],
    [
      "is sent by a server without If-Match",
      (_, to) => send(to, 200, "uno", { etag: '"uno"' }),
      /object "a" .* changed while/,
    ],
    [
      "is still being sent by a server without If-Match",
      (_, to) => void to.writeHead(200, { etag: '"uno"' }).write("u"),
      /object "a" .* changed while/,
    ],
    [
      "is gone",
      (_, to) => send(to, 404, "<Error><Code>NoSuchKey</Code></Error>"),
      /object "a" .* changed while/,
    ],
    ["is shorter", (_, to) => send(to, 200, "o"), /has 1 bytes, the list of the bucket says 3/],
    ["is longer", (_, to) => send(to, 200, "onetwo"), /larger than 3 bytes/],
  ];
  for (const [name, respond, message] of replaced) {
    it(`with an object that changed during the checkout and ${name} is an error that names it`, async () => {
      await using client = createTestClient();
      const location = await bucketOf((one, to) =>
        one.path.includes("list-type") ? send(to, 200, page({ a: "one" })) : respond(one, to),
      );

      await assert.rejects(
        client.buckets.checkout(pinOf(location, { a: "one" }), await testDir(), access, request),
        failsWith("BUCKET_CHANGED", message),
      );
    });
  }

  for (const key of ["../x", "a/../../x", "/../x", "a/./b", "..", "x\\u0000"]) {
    it(`with the key ${key} is refused, unless it is ignored`, async () => {
      await using client = createTestClient();
      const encoded = encodeURIComponent(key.replace("\\u0000", "\0"));
      const list = page({ [encoded]: "e", ok: "e" }, "<EncodingType>url</EncodingType>");
      const location = await bucketOf((_, to) => send(to, 200, list));

      await assert.rejects(
        client.buckets.list(location, access, request),
        failsWith("BUCKET_KEY_INVALID", /is not a path of a file/),
      );
      const { objects } = await client.buckets.list(
        { ...location, ignore: "*\n!/ok" },
        access,
        request,
      );
      assert.equal(objects.length, 1);
    });
  }

  it("with a key beyond S3's own limit is refused before any pattern is compared with it", async () => {
    await using client = createTestClient();
    const [allowed, refused] = [1_024, 1_025].map((size) => "a/".repeat(512).padEnd(size, "é"));
    const list = (key = "") =>
      page({ [encodeURIComponent(key)]: "e" }, "<EncodingType>url</EncodingType>");
    const short = await bucketOf((_, to) => send(to, 200, list(allowed?.replace(/.$/, "b"))));
    const long = await bucketOf((_, to) => send(to, 200, list(refused)));

    assert.equal((await client.buckets.list(short, access, request)).objects.length, 1);
    await assert.rejects(
      client.buckets.list({ ...long, ignore: "a" }, access, request),
      failsWith("BUCKET_KEY_INVALID", /^the key "a\/a\/.*…" has 1026 bytes, more than the 1024/),
    );
  });

  it("with two keys of one path is refused", async () => {
    await using client = createTestClient();
    for (const keys of [
      { a: "e", "a/b": "e" },
      { "a/b": "e", "a//b": "e" },
      { "a/b": "e", "a-": "e", a: "e" },
    ]) {
      const location = await bucketOf((_, to) => send(to, 200, page(keys)));
      await assert.rejects(
        client.buckets.list(location, access, request),
        failsWith("BUCKET_KEY_INVALID", /another key needs the same path/),
      );
    }
  });

  it("in a region that only the server knows is read there, from then on", async () => {
    await using client = createTestClient();
    const location = await bucketOf(({ headers }, to) =>
      headers.authorization?.includes("/eu-west-9/") === true
        ? send(to, 200, page({ a: "e" }))
        : send(
            to,
            400,
            "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-9</Region></Error>",
          ),
    );

    await client.buckets.list(location, access, request);
    await client.buckets.list(location, access, request);

    assert.equal(location.paths().length, 3);
    await assert.rejects(
      client.buckets.list({ ...location, region: "us-east-1" }, access, request),
      failsWith("BUCKET_REQUEST", /in another region, eu-west-9: set spec.region/),
    );
  });

  const broken: readonly (readonly [text: string, message: RegExp])[] = [
    ["<html><br></html>", /not valid XML/],
    ["<html/>", /may not be S3/],
    [page({}, "<IsTruncated>true</IsTruncated>"), /does not say how to go on/],
    [
      page({}, "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"),
      /does not end/,
    ],
    ["<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>", /no ETag/],
  ];
  for (const [text, message] of broken) {
    it(`whose list is ${text.slice(0, 60)} is an error that says so`, async () => {
      await using client = createTestClient();
      const location = await bucketOf((_, to) => send(to, 200, text));
      await assert.rejects(
        client.buckets.list(location, access, request),
        failsWith("BUCKET_REQUEST", message),
      );
    });
  }

  it("at an address that the egress policy refuses is not asked", async () => {
    await using client = createTestClient({ egress: { allowLoopback: false } });
    const location = await bucketOf((_, to) => send(to, 200, page({})));
    await assert.rejects(
      client.buckets.list(location, access, request),
      failsWith("EGRESS_DENIED", /./),
    );
    assert.deepEqual(location.paths(), []);
  });

  it("asks for .sourceignore only where the list does not show it", async () => {
    await using client = createTestClient();
    const location = await bucketOf((one, to) =>
      one.path.includes("list-type") ? send(to, 200, page({ "p/a": "e" })) : send(to, 200, "a"),
    );

    assert.equal((await client.buckets.list(location, access, request)).objects.length, 1);
    assert.equal(location.paths().length, 1);
    const below = await client.buckets.list({ ...location, prefix: "p/" }, access, request);
    assert.equal(below.objects.length, 0);
  });
});

describe("a bucket that sends each cluster other bytes", () => {
  /** With the same keys, sizes and ETags. */
  const liar =
    (text: string): Respond =>
    (one, to) =>
      one.path.includes("list-type")
        ? send(to, 200, page({ "a/Chart.yaml": "one", b: "two" }))
        : send(to, 200, one.path.endsWith("b") ? text : "one", {
            etag: one.path.endsWith("b") ? '"two"' : '"one"',
          });

  it("has one digest of its list, and another one of the bytes for each", async () => {
    await using client = createTestClient();
    const received = async (text: string) => {
      const location = await bucketOf(liar(text));
      const pin = pinOf(location, { "a/Chart.yaml": "one", b: "two" });
      return await client.buckets.checkout(pin, await testDir(), access, request);
    };

    const [first, same, other] = [
      await received("uno"),
      await received("uno"),
      await received("due"),
    ];

    assert.match(first, /^sha256:[0-9a-f]{64}$/);
    assert.equal(same, first);
    assert.notEqual(other, first);
  });
});

describe("the address of a request", () => {
  const cases: readonly (readonly [
    endpoint: string,
    bucket: string,
    region: string,
    url: string,
  ])[] = [
    ["minio.example.com:9000", "box", "us-east-1", "https://minio.example.com:9000/box/a%20b"],
    ["storage.googleapis.com", "box", "us-east-1", "https://storage.googleapis.com/box/a%20b"],
    ["s3.amazonaws.com", "box", "us-east-1", "https://box.s3.amazonaws.com/a%20b"],
    ["s3.amazonaws.com", "box", "eu-west-1", "https://box.s3.eu-west-1.amazonaws.com/a%20b"],
    [
      "s3.eu-west-1.amazonaws.com",
      "box",
      "eu-west-1",
      "https://box.s3.eu-west-1.amazonaws.com/a%20b",
    ],
    ["s3.amazonaws.com", "my.box", "us-east-1", "https://s3.amazonaws.com/my.box/a%20b"],
    ["storage.googleapis.com", "box", "us-east-1", "https://storage.googleapis.com/box/a%20b"],
  ];
  for (const [endpoint, bucketName, region, url] of cases) {
    it(`of ${bucketName} at ${endpoint} in ${region} is ${url}`, () => {
      assert.equal(requestUrl({ endpoint, bucketName }, region, { key: "a b" }).href, url);
    });
  }
});
