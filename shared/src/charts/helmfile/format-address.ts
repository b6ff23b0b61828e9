/** Writes a parsed address as a text that is parsed as the same address. Pure. */
import { unreachable } from "../../runtime/errors/index.ts";
import type {
  AddressCredentials,
  ArchiveAddress,
  BucketAddress,
  FileAddress,
  GitAddress,
  HelmfileAddress,
} from "./address.ts";
import { formatOfName } from "./archive-format.ts";

/** With its secrets: for people there is `maskAddress`. Equal addresses have equal texts. */
export function formatHelmfileAddress(address: HelmfileAddress): string {
  switch (address.kind) {
    case "git":
      return formatGit(address);
    case "file":
    case "archive":
      return formatHttp(address);
    case "bucket":
      return formatBucket(address);
    case "oci": {
      const { repository, tag, digest, path } = address;
      const version = `${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
      return `${repository}${version}${formatTree(path)}`;
    }
    default:
      return unreachable(address);
  }
}

function formatGit({ url, ref, depth, credentials, identityPem, path }: GitAddress): string {
  const base = `git::${withCredentials(url, credentials)}${formatTree(path)}`;
  return withParameters(base, {
    ref,
    depth: depth?.toString(),
    sshkey: identityPem && Buffer.from(identityPem).toString("base64"),
  });
}

function formatHttp(address: FileAddress | ArchiveAddress): string {
  const [base = "", ...search] = withCredentials(address.url, address.credentials).split("?");
  const tree = address.kind === "archive" ? formatTree(address.path) : "";
  const written = [`${base}${tree}`, ...search].join("?");
  return withParameters(written, {
    archive: archiveParameter(base, address.kind === "archive" ? address.format : undefined),
    checksum: address.digest,
  });
}

function formatBucket(address: BucketAddress): string {
  const { endpoint, bucketName, insecure, region, prefix, format, path } = address;
  const key = formatNames(prefix);
  // A slash at the end says that it is a folder.
  const base = path === "" ? key : key.replace(/\/$/, "");
  const bucket = `s3::${insecure === true ? "http" : "https"}://${endpoint}/${bucketName}`;
  return withParameters(`${bucket}${base === "" ? "" : `/${base}`}${formatTree(path)}`, {
    region,
    archive: archiveParameter(prefix.replace(/\/$/, ""), format),
  });
}

/** Needed where the name alone says something else. */
function archiveParameter(name: string, format: string | undefined): string | undefined {
  return formatOfName(name) === format ? undefined : (format ?? "false");
}

/** The URL with user name and password in it. */
export function withCredentials(url: string, credentials: AddressCredentials | undefined): string {
  if (credentials === undefined) return url;
  const { username, password } = credentials;
  const user = [username, ...(password === "" ? [] : [password])].map(encodeURIComponent).join(":");
  return url.replace("://", `://${user}@`);
}

function formatTree(path: string): string {
  return path === "" ? "" : `@${formatNames(path)}`;
}

function formatNames(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function withParameters(
  address: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  if (written.length === 0) return address;
  return `${address}${address.includes("?") ? "&" : "?"}${written.join("&")}`;
}
