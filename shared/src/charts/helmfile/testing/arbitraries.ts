/** Random addresses of helmfiles. */
import * as fc from "fast-check";
import type { AddressCredentials, HelmfileAddress } from "../address.ts";
import { unprintable } from "../split-address.ts";
import { sampleDigest, samplePem } from "./addresses.ts";

const host = fc.constantFrom(
  "h",
  "git.example.com",
  "h:8443",
  "127.0.0.1:9000",
  "[2001:db8::1]",
  "[2001:db8::1]:8443",
);
/** Names of files, some with characters that addresses have to encode. */
const name = fc.oneof(
  fc.constantFrom("d", "helmfile.yaml", "helmfile.d", "x.tgz", "r.git", "..."),
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
    .filter((text) => /^[^/\\]+$/.test(text) && !/^\.\.?$/.test(text) && !unprintable.test(text)),
);
/** Names as an address of HTTP has them, encoded. */
const encodedName = fc.constantFrom("d", "o", "r.git", "x%20y", "%40scope", "helmfile.yaml");
const path = fc.array(name, { maxLength: 3 }).map((names) => names.join("/"));
const base = fc.array(encodedName, { maxLength: 2 });
const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((each) => each.isWellFormed());
const credentials: fc.Arbitrary<AddressCredentials> = fc
  .record({ username: text, password: text }, { noNullPrototype: true })
  .filter(({ username, password }) => username !== "" || password !== "");
const ref = fc.constantFrom("main", "v1.0.0", "v1+build", "feature/a", "a@1", "ä");
const digest = fc.constant(sampleDigest);
const scheme = fc.constantFrom("https", "http");
const search = fc.constantFrom("", "?token=t", "?a=%20&X-Amz-Signature=a+b/c==", "?ref=main");

const git: fc.Arbitrary<HelmfileAddress> = fc
  .record(
    {
      scheme,
      host,
      base,
      name: encodedName,
      path,
      ref,
      depth: fc.integer({ min: 1, max: 999_999 }),
      credentials,
    },
    { noNullPrototype: true, requiredKeys: ["scheme", "host", "base", "name", "path"] },
  )
  .map(({ scheme: by, host: at, base: above, name: last, ...rest }) => ({
    kind: "git",
    url: `${by}://${at}/${[...above, last].join("/")}`,
    ...rest,
  }));
const ssh: fc.Arbitrary<HelmfileAddress> = fc
  .record(
    {
      user: fc.constantFrom("", "git@"),
      host,
      name: encodedName,
      path,
      identityPem: fc.constant(samplePem),
    },
    { noNullPrototype: true, requiredKeys: ["user", "host", "name", "path"] },
  )
  .map(({ user, host: at, name: last, ...rest }) => ({
    kind: "git",
    url: `ssh://${user}${at}/${last}`,
    ...rest,
  }));
const file: fc.Arbitrary<HelmfileAddress> = fc
  .record(
    {
      scheme,
      host,
      base,
      last: fc.constantFrom("helmfile.yaml", "x.tgz", "d"),
      search,
      digest,
      credentials,
    },
    { noNullPrototype: true, requiredKeys: ["scheme", "host", "base", "last", "search"] },
  )
  .map(({ scheme: by, host: at, base: above, last, search: sent, ...rest }) => ({
    kind: "file",
    url: `${by}://${at}/${[...above, last].join("/")}${sent}`,
    ...rest,
  }));
const format = fc.constantFrom("tar.gz", "tar.bz2", "tar.xz", "zip");
const archive: fc.Arbitrary<HelmfileAddress> = fc
  .record(
    {
      scheme,
      host,
      last: fc.constantFrom("x", "x.tgz", "x.zip", "X.TAR.GZ"),
      search,
      format,
      path,
      digest,
      credentials,
    },
    { noNullPrototype: true, requiredKeys: ["scheme", "host", "last", "search", "format", "path"] },
  )
  .map(({ scheme: by, host: at, last, search: sent, ...rest }) => ({
    kind: "archive",
    url: `${by}://${at}/${last}${sent}`,
    ...rest,
  }));
const place = {
  endpoint: fc.oneof(
    host,
    fc.constantFrom("s3.amazonaws.com", "s3.eu-west-1.amazonaws.com", "storage.googleapis.com"),
  ),
  bucketName: fc.constantFrom("bucket", "my.bucket", "x.zip"),
  insecure: fc.constant(true),
  region: fc.constantFrom("eu-west-1", "auto"),
};
const bucket: fc.Arbitrary<HelmfileAddress> = fc
  .record(
    { ...place, folders: fc.array(name, { maxLength: 2 }), path },
    { noNullPrototype: true, requiredKeys: ["endpoint", "bucketName", "folders", "path"] },
  )
  .map(({ folders, ...rest }) => ({
    kind: "bucket",
    prefix: folders.map((each) => `${each}/`).join(""),
    ...rest,
  }));
const bucketArchive: fc.Arbitrary<HelmfileAddress> = fc
  .record(
    { ...place, prefix: path.filter((key) => key !== ""), format, path },
    { noNullPrototype: true, requiredKeys: ["endpoint", "bucketName", "prefix", "format", "path"] },
  )
  .map((rest) => ({ kind: "bucket", ...rest }));
const oci: fc.Arbitrary<HelmfileAddress> = fc
  .record(
    {
      host,
      repository: fc.constantFrom("o/r", "library/x-y"),
      tag: fc.constantFrom("v1", "latest", "1.0.0_b"),
      digest,
      path,
    },
    { noNullPrototype: true, requiredKeys: ["host", "repository", "path"] },
  )
  .map(({ host: at, repository, ...rest }) => ({
    kind: "oci",
    repository: `oci://${at}/${repository}`,
    ...rest,
  }));

/** Addresses of all kinds, as they are when they were parsed. */
export const anyAddress: fc.Arbitrary<HelmfileAddress> = fc.oneof(
  git,
  ssh,
  file,
  archive,
  bucket,
  bucketArchive,
  oci,
);

/** Texts that are addresses, or nearly; `secret` is where addresses have secrets. */
export function nearlyAddress(secret: string): fc.Arbitrary<string> {
  const hiding = [
    `user:${secret}@`,
    `:${secret}@`,
    `?token=${secret}`,
    `?a=b&X-Amz-Signature=${secret}`,
    `&API_KEY=${secret}`,
    `?to%6ben=${secret}`,
    `&token%3D${secret}`,
    `?sshkey=${secret}`,
  ];
  const beginning = fc.constantFrom(
    "git::https://h/o/r.git",
    `git::https://user:${secret}@h/o/r`,
    "GIT::ssh://git@h:22/o/r.git",
    "git::git@h:o/r.git",
    "https://h/d/helmfile.yaml",
    `HTTPS://user:a@${secret}@[::1]/x.tgz`,
    "s3://bucket/d",
    "s3::http://h:9000/bucket/d",
    "gcs::https://www.googleapis.com/storage/v1/bucket/d",
    "oci://h/o/r",
  );
  const harmless =
    "/ // @ d f . .. ... %2e%2e %40 %20 ä : .zip & ?ref=v1 &depth=2 ?archive=zip ?region=eu";
  const wild = ":: file: git:: https:// file:// %2F %00 %zz \\ ? = # :x [::1]";
  const more = fc.constantFrom(...harmless.split(" "), ...hiding);
  const anything = fc.constantFrom(
    ...`${harmless} ${wild}`.split(" "),
    ...hiding,
    "\n",
    " ",
    "\ud800",
    "\u202e",
  );
  return fc.oneof(
    fc
      .tuple(beginning, fc.array(more, { maxLength: 4 }))
      .map(([begun, rest]) => begun + rest.join("")),
    fc
      .tuple(beginning, fc.array(anything, { maxLength: 4 }))
      .map(([begun, rest]) => begun + rest.join("")),
    fc.array(anything, { maxLength: 14 }).map((pieces) => pieces.join("")),
  );
}

const plainHost = fc.constantFrom("h", "git.example.com", "h:8443", "127.0.0.1:9000");
const plainPath = fc
  .array(fc.constantFrom("d", "helmfile.d", "ä", "x%20y", "a.b", "x:y"), {
    minLength: 1,
    maxLength: 3,
  })
  .map((names) => names.join("/"));
const user = fc.constantFrom("", "", "token@", "user:to%40ken@", "user:a@b@");

/** Texts that mean the same to helmfile. */
export const sameAddress: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(
      scheme,
      user,
      plainHost,
      plainPath,
      fc.option(plainPath, { nil: undefined }),
      plainPath,
      fc.constantFrom("", "?ref=v1", "?ref=a%2Fb&depth=3", "?cache=false"),
    )
    .map(
      ([by, as, at, repository, folder, last, query]) =>
        `git::${by}://${as}${at}/${repository}${folder === undefined ? "" : `//${folder}`}@${last}${query}`,
    ),
  fc
    .tuple(scheme, user, plainHost, plainPath, fc.constantFrom("", "?token=t", "?a=b%20c"))
    .map(([by, as, at, last, query]) => `${by}://${as}${at}/${last}${query}`),
  fc
    .tuple(plainPath, fc.constantFrom("", "?region=eu"))
    .map(([key, query]) => `s3://bucket/${key}${query}`),
  fc
    .tuple(plainHost, plainPath, plainPath)
    .map(([at, key, last]) => `s3::http://${at}/bucket/${key}@${last}`),
);
