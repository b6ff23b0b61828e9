/** Addresses of helmfiles in buckets. Pure. */
import {
  bucketAddress as addressOfBucket,
  bucketInHost,
  regionOf,
} from "../source/bucket/index.ts";
import type { BucketAddress } from "./address.ts";
import { archiveFormat } from "./archive-format.ts";
import { invalidAddress } from "./errors.ts";
import { requireKnown, requireSingle } from "./parameters.ts";
import { type AddressParts, decodeNames } from "./split-address.ts";
import { hostOf, parseUrl } from "./url.ts";

/** Where the bucket is, and the rest of the path behind its name. */
type Place = Pick<BucketAddress, "endpoint" | "bucketName" | "insecure"> & {
  readonly names: readonly string[];
};

const s3Form = "s3::https://ENDPOINT/BUCKET/FOLDER@helmfile.yaml";
const gcsForm = "gcs::https://www.googleapis.com/storage/v1/BUCKET/FOLDER@helmfile.yaml";

/** An address of S3, or of a server with its API. Throws HELMFILE_SOURCE_INVALID. */
export function s3Address(parts: AddressParts): BucketAddress {
  const names = decodeNames(parts.base);
  if (parts.scheme === "s3") {
    requireNoUser(parts);
    const { authority } = parts;
    return inBucket(parts, { endpoint: "s3.amazonaws.com", bucketName: authority, names });
  }
  const { endpoint, insecure } = endpointOf(parts);
  const inHost = bucketInHost(endpoint);
  if (inHost !== undefined) return inBucket(parts, { ...inHost, insecure, names });
  const [bucketName = "", ...rest] = names;
  return inBucket(parts, { endpoint, insecure, bucketName, names: rest });
}

/** An address of Google Cloud Storage, which is read by its API that is compatible with S3. Throws HELMFILE_SOURCE_INVALID. */
export function gcsAddress(parts: AddressParts): BucketAddress {
  const [storage, v1, bucketName = "", ...names] = decodeNames(parts.base);
  const { endpoint, insecure } = endpointOf(parts);
  const isGoogle = endpoint === "www.googleapis.com" && insecure !== true;
  if (!isGoogle || storage !== "storage" || v1 !== "v1")
    throw invalidAddress("spec.source", "is not an address of Google Cloud Storage", gcsForm);
  return inBucket(parts, { endpoint: "storage.googleapis.com", bucketName, names });
}

function endpointOf(parts: AddressParts): Pick<Place, "endpoint" | "insecure"> {
  const { scheme } = parts;
  if (scheme !== "https" && scheme !== "http")
    throw invalidAddress("spec.source", "has a scheme by which buckets are not read", s3Form);
  requireNoUser(parts);
  const { host } = parseUrl({ ...parts, base: "" }).url;
  return { endpoint: host, ...(scheme === "http" && { insecure: true }) };
}

function requireNoUser({ authority }: AddressParts): void {
  if (hostOf(authority) !== authority)
    throw invalidAddress(
      "spec.source",
      "has a user name or a password, which buckets do not take",
      "the address without it, and accesskey and secretkey into the Secret that spec.sourceSecretName names",
    );
}

function inBucket(
  { getter, base, tree, parameters }: AddressParts,
  { names, insecure, ...place }: Place,
): BucketAddress {
  const known = getter === "gcs" ? ["archive", "cache"] : ["region", "archive", "cache"];
  requireKnown(parameters, known);
  requireSingle(parameters, known);
  const region = parameters.get("region") ?? "";
  const location = {
    ...place,
    ...(insecure === true && { insecure }),
    ...(region !== "" && { region }),
  };
  requireBucket(location);
  const key = names.join("/");
  const format = archiveFormat(key, parameters);
  if (format !== undefined)
    return { kind: "bucket", ...location, prefix: key, format, path: tree ?? "" };
  const isFolder = tree !== undefined || base.endsWith("/");
  const folder = isFolder ? names : names.slice(0, -1);
  return {
    kind: "bucket",
    ...location,
    prefix: folder.map((name) => `${name}/`).join(""),
    path: isFolder ? (tree ?? "") : (names.at(-1) ?? ""),
  };
}

/** The rules of the client of buckets, whose messages name fields of other kinds. */
function requireBucket(location: Pick<BucketAddress, "endpoint" | "bucketName" | "region">): void {
  try {
    addressOfBucket(location);
    regionOf(location);
  } catch {
    throw invalidAddress(
      "spec.source",
      "has an invalid bucket or region",
      `${s3Form}?region=REGION`,
    );
  }
}
