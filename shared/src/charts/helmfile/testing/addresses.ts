/**
 * Addresses for the comparison with helmfile's own parser: `node shared/generate/golden-helmfile.ts` stores what that makes of them in
 * shared/golden/generated.
 */

/** A private key, which opens nothing. */
export const samplePem: string = "-----BEGIN PRIVATE KEY-----\nSample\n-----END PRIVATE KEY-----\n";

/** It as the parameter `sshkey`. */
export const sampleKey: string = encodeURIComponent(Buffer.from(samplePem).toString("base64"));

export const sampleDigest: string = `sha256:${"a".repeat(64)}`;

/** Addresses that mean the same to both. */
export const sameAddresses: readonly string[] = [
  "git::https://h/o/r.git@d/helmfile.yaml?ref=v1",
  "git::https://h/o/r.git@helmfile.yaml",
  "git::https://h/o/r//pkg/x@assets?ref=master",
  "git::https://h/o/r.git//pkg@helmfile.d/?ref=master",
  "git::https://h/o/r.git@./d/./helmfile.yaml",
  "git::https://h:8443/o/r.git@f?ref=release/1.2&depth=1",
  "git::https://H.Example.COM/o/R.git@F",
  "git::http://h/o/r.git@f",
  "git::https://h/o/r.git@f?cache=false",
  "git::https://h/o/r.git@f?ref=feature%2Fa",
  "git::https://user:token@h/o/r.git@f?ref=v1",
  "git::https://user:to%40k%2Fe%3An@h/o/r.git@f",
  "git::https://user:to@ken@h/o/r.git@f",
  "git::https://token@h/o/r.git@f",
  `git::ssh://git@h/o/r.git@f?sshkey=${sampleKey}`,
  "git::ssh://git@h:2222/o/r.git@d/f?ref=main",
  "git::https://h/o/r.git@d%20e/f",
  "git::https://h/o/r.git@d e/f",
  "git::https://h/o/r.git@ä/f",
  "git::https://h/o/r%2Dx.git@f",
  "git::HTTPS://h/o/r.git@f",
  "https://h/d/helmfile.yaml",
  "http://h:8080/helmfile.yaml",
  "HTTPS://h/d/helmfile.yaml",
  "https://user:token@h/d/helmfile.yaml",
  "https://h/d/helmfile.yaml?token=t&X-Amz-Signature=s",
  `https://h/d/helmfile.yaml?checksum=${sampleDigest}`,
  "https://h/x.tgz?archive=false",
  "s3://bucket/d/helmfile.yaml",
  "s3://bucket/helmfile.yaml?region=eu-west-1",
  "s3://bucket/a/b/helmfile.yaml",
  "s3::https://s3.amazonaws.com/bucket/d@f",
  "s3::https://s3-eu-west-1.amazonaws.com/bucket/d@f",
  "s3::https://bucket.s3.eu-west-1.amazonaws.com/d@f",
  "s3::https://bucket.s3.eu-west-1.amazonaws.com/x.tgz@f",
  "s3::http://127.0.0.1:9000/bucket/d@f?region=eu",
];

/** Why an address means something else here, by the addresses of that kind. */
export const differentAddresses: Readonly<Record<string, readonly string[]>> = {
  "helmfile takes the last name of a repository without a file for the file": [
    "git::https://h/o/r.git",
    "git::https://h/o/r.git?ref=v1",
    "git::https://h/o/r.git/",
    "git::ssh://git@h/o/r.git",
  ],
  "helmfile collapses the slashes before a folder without a file": [
    "git::https://h/o/r.git//d/helmfile.yaml",
    "git::https://h/o/r.git//d",
  ],
  "helmfile refuses the form of scp": [
    "git::git@h:o/r.git@f",
    "git::git@h:o/r.git//d?ref=v1",
    "git::git@h:/srv/r.git@f",
  ],
  "helmfile does not split the address of an archive": [
    "https://h/x.tar.gz@d/helmfile.yaml",
    "https://h/x.tar.gz//d",
    "https://h/x.zip//d@f",
    "https://h/download@f?archive=tar.xz",
    "https://h/x.tar.bz2@f",
    "https://h/x.tar.xz",
    "https://h/x.tgz",
  ],
  "helmfile reads one object, and here its folder is the tree": [
    "s3::https://s3.amazonaws.com/bucket/d/",
    "s3::https://s3.amazonaws.com/bucket/d/f",
    "s3://bucket/d@f",
    "s3://bucket/d/",
    "s3://bucket/x.tgz",
    "s3://bucket/x.tgz@f",
  ],
  "helmfile has no getter for Google's storage, which is read by its API that is compatible with S3":
    ["gcs::https://www.googleapis.com/storage/v1/bucket/d@f"],
  "helmfile refuses registries": [
    "oci://h/o/r:tag@f",
    `oci://h/o/r@${sampleDigest}`,
    `oci://h:5000/o/r:tag@${sampleDigest}@d/f`,
  ],
  "helmfile has no getter for oci::, and here oci:// is enough": ["oci::oci://h/o/r@f"],
  "refused here: other programs and files of the hub": [
    "hg::https://h/o/r@f",
    "smb::smb://h/share/f@x",
    "git::file:///srv/r.git@f",
    "git::FILE:///srv/r.git@f",
    "GIT::file:///srv/r.git@f",
    "file::https://h/o/r.git@f",
    "git::git://h/o/r.git@f",
    "git::ftp://h/o/r.git@f",
    "https::ssh://h/f@x",
    "c:helmfile.yaml",
    "mailto:a@h",
  ],
  "refused here: two @, where helmfile takes the whole as the path": [
    "git::https://h/o/r.git@a@b",
    "git::https://h/o/r@1//d@f",
  ],
  "refused here: a path that leaves the source": [
    "git::https://h/o/r.git@../f",
    "git::https://h/o/r.git@d/%2e%2e/f",
    "git::https://h/o/r.git//../x@f",
    "git::https://h/o/../r.git@f",
    "git::https://h/o/%2e%2E/r.git@f",
    "https://h/d/../helmfile.yaml",
    "s3://bucket/../helmfile.yaml",
    "s3::https://s3.amazonaws.com/bucket/../d@f",
  ],
  "refused here: what one program reads as a name and another as a path": [
    "git::https://h/o/r.git@d%2Ff",
    "git::https://h/o/r.git@d%5cf",
    "git::https://h/o/r.git@d\\f",
    "git::https://h/o/r.git@d%00f",
    "git::https://h/o/r.git@d%0Af",
    "https://h/d%5c..%5chelmfile.yaml",
  ],
  "%40 is a character of a name here, and separates nothing": [
    "git::https://h/o/r.git%40d/f",
    "git::https://h/o/r.git@%40scope/f",
  ],
  "a plus in a parameter is a plus here: versions and keys in base64 have some": [
    "git::https://h/o/r.git@f?ref=v1+2",
  ],
  "refused here: a fragment, which helmfile drops": [
    "git::https://h/o/r.git@f#v1",
    "https://h/d/helmfile.yaml#v1",
  ],
  "refused here: parameters that have no effect, or more than one": [
    "git::https://h/o/r.git@f?branch=v1",
    "git::https://h/o/r.git@f?ref=v1&ref=v2",
    "git::https://h/o/r.git@f?depth=-1",
    "git::https://h/o/r.git@f?archive=tar.gz",
    "git::https://h/o/r.git@f?sshkey=S2V5",
    `git::https://h/o/r.git@f?sshkey=${sampleKey}`,
    "s3::https://s3.amazonaws.com/bucket/d@f?aws_access_key_id=a",
    "https://h/d/helmfile.yaml?checksum=md5:0cc175b9c0f1b6a831c399e269772661",
    "https://h/d/helmfile.yaml?checksum=file:https://h/sums",
    "https://h/d/helmfile.yaml?archive=rar",
    `https://h/d/helmfile.yaml?sshkey=${sampleKey}`,
  ],
  "refused here: names nothing that could be fetched": [
    "git::https:///o/r.git@f",
    "git::https://h@f",
    "git::https://h//d@f",
    "git::https://h/o/r.git@",
    "https://h",
    "https://h/d/",
    "s3::https://s3.amazonaws.com/",
    "s3::https://s3.amazonaws.com/b/f",
    "s3://b/f",
  ],
  "refused here: not an address of Google's storage": [
    "gcs::https://storage.googleapis.com/bucket/f",
    "gcs::http://www.googleapis.com/storage/v1/bucket/d@f",
  ],
  "refused here: a file in what is neither a repository nor an archive": [
    "https://h/o/r.git",
    "https://h/o/r.git@helmfile.yaml",
    "https://h/o/r//d/helmfile.yaml",
    "https://h/d@helmfile.yaml",
  ],
  "refused here: what is not the name of a branch, a tag or a commit": [
    "git::https://h/o/r.git@f?ref=-x",
    "git::https://h/o/r.git@f?ref=HEAD~1",
    "git::https://h/o/r.git@f?ref=a b",
  ],
  "refused here: credentials where no client takes them": [
    "git::ssh://git:password@h/o/r.git@f",
    "s3::https://key:secret@s3.amazonaws.com/bucket/d@f",
  ],
  "refused here: hosts that are none": [
    "git::ssh://-oProxyCommand=x/o/r.git@f",
    "git::ssh://ä/o/r.git@f",
    "git::https://h:99999/o/r.git@f",
  ],
  "helmfile takes the colons of an IPv6 host for those behind git": [
    "git::https://[2001:db8::1]:8443/o/r.git@f",
    "https://[2001:db8::1]/d/helmfile.yaml",
    "git::git@[2001:db8::1]:o/r.git@f",
  ],
  "helmfile compares git:: and the like with the case": ["GIT::https://h/o/r.git@f"],
};

/** Addresses that both refuse. */
export const refusedAddresses: readonly string[] = [
  "",
  "helmfile.yaml",
  "d/helmfile.yaml",
  "./helmfile.yaml",
  "../helmfile.yaml",
  "/srv/helmfile.yaml",
  "file:///srv/helmfile.yaml",
  "FILE:///srv/helmfile.yaml",
  "github.com/o/r",
  "git@h:o/r.git@f",
  "ssh://git@h/o/r.git@f",
  "git://h/o/r.git@f",
  "gs://bucket/f",
  "smb://h/share/f",
  "git::s3::https://h/r@f",
  "git::helmfile.yaml",
  "git::/srv/r.git",
  "git::https://h/o/r.git@%zz",
  "git::https://h/o/r\n.git@f",
  "git::https://h h/o/r.git@f",
  "git::https://[fe80::1/o/r.git@f",
];
