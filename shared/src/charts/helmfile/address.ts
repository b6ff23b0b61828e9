/**
 * The address of a helmfile, parsed: the kinds of places that it is read from. Each has what the clients of `source` need to read it;
 * credentials are in fields of their own, so no `url` has any.
 */
import type { BucketLocation } from "../source/bucket/index.ts";
import type { ArchiveFormat } from "./archive-format.ts";

/** A place with many files, one or some of which are the helmfile. */
interface InTree {
  /** The file or directory, relative, without `.` and `..`; empty: the whole tree. */
  readonly path: string;
}

/** From the address itself: a secret. */
export interface AddressCredentials {
  readonly username: string;
  /** Empty when the address has a user name only, which is a token with some servers. */
  readonly password: string;
}

/** A repository, at one commit. */
export interface GitAddress extends InTree {
  readonly kind: "git";
  /** `https://…`, `http://…` or `ssh://USER@…`, as the Git client takes it. */
  readonly url: string;
  /** A branch, a tag or a commit; absent: the default branch. */
  readonly ref?: string;
  /** How many commits are fetched at most. */
  readonly depth?: number;
  /** For HTTP. */
  readonly credentials?: AddressCredentials;
  /** For SSH, a private key: a secret. */
  readonly identityPem?: string;
}

/** One file. It cannot refer to others by a relative path. */
export interface FileAddress {
  readonly kind: "file";
  /** Its parameters may be secrets. */
  readonly url: string;
  /** The digest that the file must have: `sha256:` and 64 lower-case hex digits. */
  readonly digest?: string;
  readonly credentials?: AddressCredentials;
}

/** An archive at an address of HTTP. */
export interface ArchiveAddress extends InTree {
  readonly kind: "archive";
  /** Its parameters may be secrets. */
  readonly url: string;
  readonly format: ArchiveFormat;
  /** The digest that the archive must have: `sha256:` and 64 lower-case hex digits. */
  readonly digest?: string;
  readonly credentials?: AddressCredentials;
}

/** Objects of a bucket (S3, or Google Cloud Storage by its API that is compatible with S3), or an archive that is one object. */
export interface BucketAddress
  extends InTree,
    Pick<BucketLocation, "endpoint" | "bucketName" | "region" | "insecure"> {
  readonly kind: "bucket";
  /** The keys of the tree begin with it: empty, or with a slash at its end. The key of the archive, if there is a `format`. */
  readonly prefix: string;
  readonly format?: ArchiveFormat;
}

/** An artifact or an image of a registry. */
export interface OciAddress extends InTree {
  readonly kind: "oci";
  /** `oci://host/path`. */
  readonly repository: string;
  readonly tag?: string;
  /** It has precedence over the tag. */
  readonly digest?: string;
}

export type HelmfileAddress =
  | GitAddress
  | FileAddress
  | ArchiveAddress
  | BucketAddress
  | OciAddress;
