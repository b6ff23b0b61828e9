/** The table of addresses, what is refused and what to write instead, versions and remarks. */
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { AppError } from "../../runtime/errors/index.ts";
import { bucketAddress } from "../source/bucket/index.ts";
import { parseRemote } from "../source/git/index.ts";
import { type HelmfileAddress, parseHelmfileAddress } from "./index.ts";
import { sampleDigest, sampleKey, samplePem } from "./testing/index.ts";

type Row = readonly [text: string, address: HelmfileAddress];

const git = { kind: "git", url: "https://h/o/r.git" } as const;
const userToken = { username: "user", password: "token" };

const gitRows: readonly Row[] = [
  ["git::https://h/o/r.git@d/helmfile.yaml?ref=v1", { ...git, ref: "v1", path: "d/helmfile.yaml" }],
  [
    "git::https://h/o/r//pkg/x@assets?ref=master",
    { kind: "git", url: "https://h/o/r", ref: "master", path: "pkg/x/assets" },
  ],
  ["git::https://h/o/r.git", { ...git, path: "" }],
  ["git::https://h/o/r.git?ref=v1", { ...git, ref: "v1", path: "" }],
  ["git::https://h/o/r.git//d/helmfile.yaml", { ...git, path: "d/helmfile.yaml" }],
  [
    `git::ssh://git@h/o/r.git@f?sshkey=${sampleKey}`,
    { kind: "git", url: "ssh://git@h/o/r.git", identityPem: samplePem, path: "f" },
  ],
  ["git::git@h:o/r.git@f", { kind: "git", url: "ssh://git@h/o/r.git", path: "f" }],
  ["git::https://user:token@h/o/r.git@f", { ...git, credentials: userToken, path: "f" }],
  ["git::https://h/o/r.git@f?depth=1&cache=false", { ...git, depth: 1, path: "f" }],
  ["git::https://h/o/r.git@helmfile.d/", { ...git, path: "helmfile.d" }],
  ["git::https://h/o/r.git//", { ...git, path: "" }],
  ["git::https://h/o/r.git//a//b@./c", { ...git, path: "a/b/c" }],
  ["git::https://h/o/r.git@%40scope/a%20b%25", { ...git, path: "@scope/a b%" }],
  ["git::https://h/o/r.git@ä/...", { ...git, path: "ä/..." }],
  ["git::https://h/o/r.git@f?ref=v1%2Brc+1", { ...git, ref: "v1+rc+1", path: "f" }],
  ["git::https://h/o/r.git@f?ref=", { ...git, path: "f" }],
  ["  git::https://h/o/r.git@f\n", { ...git, path: "f" }],
  ["GIT::HTTPS://H/o/r.git@f", { ...git, path: "f" }],
  [
    "git::https://us%40er:p%40s%2Fs%3Aw@h/o/r.git@f",
    { ...git, credentials: { username: "us@er", password: "p@s/s:w" }, path: "f" },
  ],
  [
    "git::https://user:p@ss@h/o/r.git",
    { ...git, credentials: { username: "user", password: "p@ss" }, path: "" },
  ],
  [
    "git::https://token@h/o/r.git",
    { ...git, credentials: { username: "token", password: "" }, path: "" },
  ],
  [
    "git::https://[2001:db8::1]:8443/o/r.git@f",
    { kind: "git", url: "https://[2001:db8::1]:8443/o/r.git", path: "f" },
  ],
  [
    "git::git@[2001:db8::1]:o/r.git",
    { kind: "git", url: "ssh://git@[2001:db8::1]/o/r.git", path: "" },
  ],
  ["git::ssh://git@H:443/o/r.git", { kind: "git", url: "ssh://git@h:443/o/r.git", path: "" }],
  ["git::git@h:~me/r.git", { kind: "git", url: "ssh://git@h/~me/r.git", path: "" }],
];

const file = { kind: "file", url: "https://h/d/helmfile.yaml" } as const;
const archive = { kind: "archive", url: "https://h/x.tar.gz", format: "tar.gz" } as const;

const httpRows: readonly Row[] = [
  ["https://h/d/helmfile.yaml", file],
  [`https://h/d/helmfile.yaml?checksum=${sampleDigest}`, { ...file, digest: sampleDigest }],
  [`https://h/d/helmfile.yaml?checksum=${"A".repeat(64)}`, { ...file, digest: sampleDigest }],
  [
    "https://user:token@h/d/helmfile.yaml?cache=false&X-Amz-Signature=a%2Bb+c/&ref=v1",
    {
      ...file,
      url: "https://h/d/helmfile.yaml?X-Amz-Signature=a%2Bb+c/&ref=v1",
      credentials: userToken,
    },
  ],
  [
    "https://h/api/projects/o%2Fr/files/helmfile.yaml",
    { kind: "file", url: "https://h/api/projects/o%2Fr/files/helmfile.yaml" },
  ],
  ["http://h:8080/f", { kind: "file", url: "http://h:8080/f" }],
  ["https://h/x.tgz?archive=false", { kind: "file", url: "https://h/x.tgz" }],
  ["https://h/x.tar.gz@d/helmfile.yaml", { ...archive, path: "d/helmfile.yaml" }],
  ["https://h/x.tar.gz//d", { ...archive, path: "d" }],
  ["https://h/x.tar.gz//d@f", { ...archive, path: "d/f" }],
  ["https://h/x.tar.gz", { ...archive, path: "" }],
  ["https://h/x.tgz@f", { ...archive, url: "https://h/x.tgz", path: "f" }],
  [
    "https://h/x.tar.bz2@f",
    { ...archive, url: "https://h/x.tar.bz2", format: "tar.bz2", path: "f" },
  ],
  ["https://h/x.tar.xz@f", { ...archive, url: "https://h/x.tar.xz", format: "tar.xz", path: "f" }],
  ["https://h/x.zip@f", { ...archive, url: "https://h/x.zip", format: "zip", path: "f" }],
  [
    `https://h/download@f?archive=zip&id=7&checksum=${sampleDigest}`,
    {
      kind: "archive",
      url: "https://h/download?id=7",
      format: "zip",
      digest: sampleDigest,
      path: "f",
    },
  ],
];

const bucket = { kind: "bucket", endpoint: "s3.amazonaws.com", bucketName: "bucket" } as const;
const inEurope = { ...bucket, endpoint: "s3.eu-west-1.amazonaws.com" };

const bucketRows: readonly Row[] = [
  ["s3://bucket/d/helmfile.yaml", { ...bucket, prefix: "d/", path: "helmfile.yaml" }],
  ["s3://bucket/a/b//c@f", { ...bucket, prefix: "a/b/", path: "c/f" }],
  ["s3://bucket/d/", { ...bucket, prefix: "d/", path: "" }],
  ["s3://bucket/f", { ...bucket, prefix: "", path: "f" }],
  ["s3://bucket", { ...bucket, prefix: "", path: "" }],
  ["s3://bucket//d@f", { ...bucket, prefix: "", path: "d/f" }],
  ["s3://bucket/a%20b@f", { ...bucket, prefix: "a b/", path: "f" }],
  [
    "s3::https://s3-eu-west-1.amazonaws.com/bucket/d@f",
    { ...bucket, endpoint: "s3-eu-west-1.amazonaws.com", prefix: "d/", path: "f" },
  ],
  [
    "s3::https://bucket.s3.eu-west-1.amazonaws.com/x.tgz@f",
    { ...inEurope, prefix: "x.tgz", format: "tar.gz", path: "f" },
  ],
  [
    "s3::https://my.bucket.s3.eu-west-1.amazonaws.com/d@f",
    { ...inEurope, bucketName: "my.bucket", prefix: "d/", path: "f" },
  ],
  [
    "s3::http://127.0.0.1:9000/bucket/d@f?region=eu",
    {
      kind: "bucket",
      endpoint: "127.0.0.1:9000",
      bucketName: "bucket",
      insecure: true,
      region: "eu",
      prefix: "d/",
      path: "f",
    },
  ],
  [
    "gcs::https://www.googleapis.com/storage/v1/bucket/d@f",
    { ...bucket, endpoint: "storage.googleapis.com", prefix: "d/", path: "f" },
  ],
];

const oci = { kind: "oci", repository: "oci://h/o/r" } as const;

const ociRows: readonly Row[] = [
  ["oci://h/o/r:tag@f", { ...oci, tag: "tag", path: "f" }],
  [`oci://h/o/r@${sampleDigest}`, { ...oci, digest: sampleDigest, path: "" }],
  [
    `oci://H:5000/o/r:tag@${sampleDigest}//d@f`,
    { kind: "oci", repository: "oci://h:5000/o/r", tag: "tag", digest: sampleDigest, path: "d/f" },
  ],
  ["oci://h/o/r", { ...oci, path: "" }],
  ["oci://h/o/r//d", { ...oci, path: "d" }],
];

describe("an address is read as", () => {
  for (const [text, address] of [...gitRows, ...httpRows, ...bucketRows, ...ociRows]) {
    it(`${address.kind}: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(parseHelmfileAddress(text).address, address);
    });
  }

  it("what the Git client and the client of buckets take", () => {
    for (const [, address] of [...gitRows, ...bucketRows]) {
      if (address.kind === "git") parseRemote(address.url);
      if (address.kind === "bucket") bucketAddress(address);
    }
  });
});

const long = "a".repeat(5_000);

/** With what the message has to have: what is wrong, and the form to write. */
const refused: readonly (readonly [text: string, message: RegExp])[] = [
  ["", /is empty: write git::https:/],
  ["hg::https://h/r", /not supported: write git::, s3::/],
  ["smb://h/r", /not supported: write git::, s3::/],
  ["ssh://git@h/o/r.git", /not supported: write git::ssh:/],
  ["git://h/o/r.git", /not supported: write git::https:/],
  ["gs://bucket/d@f", /not supported: write gcs::https:/],
  ["oci::oci://h/o/r", /not supported: write git::, s3::, gcs::, oci:/],
  ["file:///etc/helmfile.yaml", /file of the hub.*write an address such as git::https:/],
  ["FILE:///etc/helmfile.yaml", /file of the hub/],
  ["git::file:///srv/r.git", /file of the hub/],
  ["GIT::File:///srv/r.git", /file of the hub/],
  ["file::https://h/r.git", /file of the hub/],
  ["file:/etc/helmfile.yaml", /no scheme, and files of the hub are not read/],
  ["git::file:/srv/r.git", /no scheme, and files of the hub/],
  ["helmfile.yaml", /no scheme, and files.*write an address such as git::https:/],
  ["../helmfile.yaml", /no scheme/],
  ["/srv/helmfile.yaml", /no scheme/],
  ["github.com/o/r", /no scheme/],
  ["git::github.com/o/r", /no scheme/],
  ["git@h:o/r.git", /does not say how.*write git::/],
  ["git::s3::https://h/r", /"::" twice/],
  ["git::git::https://h/r.git", /"::" twice/],
  ["https://h/o/r.git", /without git::: write git::https:/],
  ["https://h/o/r.git@f", /without git::/],
  ["git::https://h/r.git@a@b", /more than one "@".*write one before the file/],
  ["https://h/x.tgz@a@b", /more than one "@"/],
  ["git::https://h/r.git@", /nothing behind its "@"/],
  ["git::https://h/r.git@../f", /has "\.\." in its path.*write a short path/],
  ["git::https://h/r.git//d@../../f", /has "\.\." in its path/],
  ["git::https://h/r.git@d/%2e%2e/f", /has "\.\." in its path/],
  ["git::https://h/r.git//..@f", /has "\.\." in its path/],
  ["git::https://h/o/../r.git@f", /"\.\."/],
  ["git::https://h/o/%2E%2e/r.git@f", /"\.\."/],
  ["https://h/a%2F..%2Fhelmfile.yaml", /"\.\."/],
  ["s3://bucket/../f", /"\.\."/],
  ["git::https://h/r.git@a%2Fb", /encoded slash/],
  ["s3://bucket/a%2Fb@f", /encoded slash/],
  ["git::https://h/r.git@a%5Cb", /a backslash/],
  ["git::https://h/r.git@a\\b", /a backslash/],
  ["https://h\\@evil/f", /a backslash/],
  ["https://h/a%5C..%5Cf", /a backslash/],
  ["git::https://h/r.git@a%00", /control character/],
  ["git::https://h/r.git@a%zz", /% that encodes nothing/],
  ["git::https://h/%zz@f", /% that encodes nothing/],
  ["git::https://h/r.git@a%C0%AF", /% that encodes nothing/],
  ["git::https://u:%zz@h/r.git", /% that encodes nothing/],
  ["git::https://h/r\t.git", /not shown/],
  ["git::https://h/r\n.git", /not shown/],
  ["git::https://h/r\u202e.git", /not shown/],
  ["git::https://h/r\ud800.git", /not shown/],
  ["git::https://h/r.git#v1", /fragment.*\?ref=/],
  [`git::https://h/${long}`, /characters: write at most 4096/],
  [`git::https://h/r.git@${"a".repeat(1_025)}`, /1,024 characters/],
  ["git::https:///r.git", /no host/],
  ["git::https://h", /no repository/],
  ["git::https://h//d@f", /no repository/],
  ["git::https://h h/r.git", /host or port/],
  ["git::https://%68/r.git", /host or port/],
  ["git::https://h:99999/r.git", /host or port/],
  ["git::https://u:p/w@h/r.git", /host or port/],
  ["git::https://[fe80::1%25eth0]/r.git", /host or port/],
  ["git::ssh://-oProxyCommand=x/r.git", /host or port/],
  ["git::ssh://ä/r.git", /host or port/],
  ["git::ssh://-u@h/r.git", /a host or a user/],
  [
    "git::ssh://git:hunter2@h/r.git",
    /a password for SSH.*identity and known_hosts into the Secret/,
  ],
  ["git::ftp://h/r.git", /write git::https:\/\/ or git::ssh:/],
  ["git::https://h/r.git?branch=v1", /the parameter branch.*write only ref, depth, sshkey, cache/],
  ["git::https://h/r.git?hunter2", /has a parameter, which/],
  ["git::https://h/r.git?token%3Dhunter2=", /has a parameter, which/],
  ["git::https://h/r.git?ref=a&ref=b", /parameter ref twice/],
  ["git::https://h/r.git?ref=a;depth=1", /cannot be decoded/],
  ["git::https://h/r.git?ref=%zz", /cannot be decoded/],
  ["git::https://h/r.git?ref=-x", /spec\.source is not the name of a branch/],
  ["git::https://h/r.git?ref=a..b", /not the name of a branch/],
  ["git::https://h/r.git?ref=HEAD~1", /not the name of a branch/],
  [`git::https://h/r.git?ref=${"a".repeat(256)}`, /not the name of a branch/],
  ["git::https://h/r.git?depth=-1", /a depth that is not/],
  ["git::https://h/r.git?depth=1e9", /a depth that is not/],
  [`git::https://h/r.git?sshkey=${sampleKey}`, /not read by SSH: write git::ssh:/],
  ["git::ssh://h/r.git?sshkey=S2V5", /not a private key in base64/],
  ["git::ssh://h/r.git?sshkey=***", /not a private key in base64/],
  [`https://h/helmfile.yaml?sshkey=${sampleKey}`, /not read by SSH/],
  ["https://h/dir@helmfile.yaml", /neither a repository nor an archive: write git::/],
  ["https://h/a//b/helmfile.yaml", /neither a repository nor an archive/],
  ["https://h/x.tgz@f?archive=false", /neither a repository nor an archive/],
  ["https://h", /no file: write https:/],
  ["https://h/d/", /no file/],
  ["https://h/x?archive=rar", /format of archives.*write archive=tar\.gz/],
  ["https://h/f?checksum=md5:abc", /checksum.*write checksum=sha256:/],
  ["https://h/f?checksum=file:https://h/sums", /checksum.*write checksum=sha256:/],
  ["https::ssh://h/f", /not read over HTTP/],
  ["s3::https://h/", /invalid bucket or region: write s3::https:/],
  ["s3://b/f", /invalid bucket or region/],
  ["s3://bucket/f?region=a%20b", /invalid bucket or region/],
  ["s3::ssh://h/bucket/f", /buckets are not read: write s3::https:/],
  ["s3::https://me:hunter2@h/bucket/f", /accesskey and secretkey into the Secret/],
  ["s3://me:hunter2@bucket/f", /accesskey and secretkey into the Secret/],
  ["s3://bucket/f?aws_access_key_id=a", /parameter aws_access_key_id.*credentials into the Secret/],
  ["gcs::https://storage.googleapis.com/bucket/f", /write gcs::https:\/\/www\.googleapis\.com/],
  ["gcs::https://www.googleapis.com/storage/v1/b/f", /invalid bucket/],
  ["oci://h/o/r@sha256:abc", /invalid digest.*sha256:/],
  [`oci://h/o/r@sha512:${"a".repeat(128)}`, /invalid digest/],
  ["oci://h/O/r", /lower case: write oci:\/\/HOST\/PATH:TAG@FILE/],
  ["oci://h", /write oci:\/\/HOST/],
  ["oci://h/o/r:-x", /invalid tag/],
  ["oci://me:hunter2@h/o/r", /into the Secret/],
  ["oci://h/o/r?ref=v1", /parameter ref.*write only cache/],
];

describe("an address is refused with what to write instead", () => {
  for (const [text, message] of refused) {
    it(
      text.length > 200
        ? `${text.slice(0, 40)}… (${text.length} characters)`
        : JSON.stringify(text),
      () => {
        assert.throws(() => parseHelmfileAddress(text), isInvalid("spec.source", message));
      },
    );
  }
});

describe("spec.version", () => {
  const fitting: readonly (readonly [text: string, version: string, address: HelmfileAddress])[] = [
    ["git::https://h/o/r.git@f", "v1", { ...git, ref: "v1", path: "f" }],
    ["git::https://h/o/r.git@f?ref=v1", "v1", { ...git, ref: "v1", path: "f" }],
    ["git::https://h/o/r.git@f?ref=v1", "", { ...git, ref: "v1", path: "f" }],
    ["git::https://h/o/r.git@f", " v1 ", { ...git, ref: "v1", path: "f" }],
    ["oci://h/o/r", "v1", { ...oci, tag: "v1", path: "" }],
    ["oci://h/o/r:v1", "v1", { ...oci, tag: "v1", path: "" }],
    [`oci://h/o/r:v1@${sampleDigest}`, "v1", { ...oci, tag: "v1", digest: sampleDigest, path: "" }],
    ["https://h/d/helmfile.yaml", "", file],
  ];
  for (const [text, version, address] of fitting) {
    it(`${JSON.stringify(version)} is the version of ${text}`, () => {
      assert.deepEqual(parseHelmfileAddress(text, version).address, address);
    });
  }

  const wrong: readonly (readonly [text: string, version: string, message: RegExp])[] = [
    ["git::https://h/o/r.git@f?ref=v2", "v1", /another version than the ref in spec\.source/],
    ["git::https://h/o/r.git@f", "--upload-pack=x", /not the name of a branch/],
    ["oci://h/o/r:v2", "v1", /than the tag in spec\.source: write one of them only/],
    [`oci://h/o/r@${sampleDigest}`, "v1", /than the digest in spec\.source/],
    ["oci://h/o/r", "a/b", /invalid tag/],
    ["https://h/helmfile.yaml", "v1", /has no versions: write the version into the path/],
    ["https://h/x.tgz", "v1", /has no versions/],
    ["s3://bucket/d@f", "v1", /has no versions/],
  ];
  for (const [text, version, message] of wrong) {
    it(`${version} does not fit ${text}`, () => {
      assert.throws(() => parseHelmfileAddress(text, version), isInvalid("spec.version", message));
    });
  }
});

describe("the author gets a remark", () => {
  const password = /^spec\.source holds a user name or a password: .* spec\.sourceSecretName /;
  const key = /^spec\.source holds a private key \(sshkey\): .* identity .* known_hosts/;
  const cache = /^spec\.source has the parameter cache, which has no effect/;
  const rows: readonly (readonly [text: string, remarks: readonly RegExp[]])[] = [
    ["git::https://user:hunter2@h/r.git", [password]],
    ["git::https://hunter2@h/r.git?cache=false", [password, cache]],
    ["https://user:hunter2@h/f", [password]],
    ["https://user:hunter2@h/x.tgz", [password]],
    [`git::ssh://git@h/r.git?sshkey=${sampleKey}`, [key]],
    ["git::ssh://git@h/r.git", []],
    ["s3://bucket/f?cache=true", [cache]],
    ["oci://h/o/r?cache=true", [cache]],
    ["https://h/f?cache=false", [cache]],
  ];
  for (const [text, expected] of rows) {
    it(`${expected.length} for ${text.replace(sampleKey, "KEY")}`, () => {
      const { remarks } = parseHelmfileAddress(text);

      assert.equal(remarks.length, expected.length);
      for (const [at, remark] of remarks.entries()) {
        assert.match(remark, expected[at] ?? /never/);
        assert.ok(!remark.includes("hunter2"));
      }
    });
  }
});

function isInvalid(field: string, message: RegExp): (thrown: unknown) => boolean {
  return (thrown) => {
    assert.ok(thrown instanceof AppError, String(thrown));
    assert.equal(thrown.code, "HELMFILE_SOURCE_INVALID");
    assert.match(thrown.message, message);
    assert.ok(thrown.message.startsWith(`${field} `), thrown.message);
    assert.match(thrown.message, /: write /);
    assert.ok(!thrown.message.includes("hunter2") && thrown.message.length < 400);
    return true;
  };
}
