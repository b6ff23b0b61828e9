/** Addresses of helmfiles in Git repositories. Pure. */
import { parseRemote } from "../source/git/index.ts";
import type { GitAddress } from "./address.ts";
import { invalidAddress } from "./errors.ts";
import { requireKnown, requireSingle } from "./parameters.ts";
import { type AddressParts, gitForm } from "./split-address.ts";
import { parseUrl } from "./url.ts";

const names = ["ref", "depth", "sshkey", "cache"];

/** Throws HELMFILE_SOURCE_INVALID. */
export function gitAddress(parts: AddressParts): GitAddress {
  const { scheme, parameters, tree = "" } = parts;
  if (!["https", "http", "ssh"].includes(scheme))
    throw invalidAddress(
      "spec.source",
      "has a scheme by which repositories are not read",
      "git::https:// or git::ssh://",
    );
  const { url, credentials } = parseUrl(parts);
  url.pathname = url.pathname.replace(/\/+$/, "");
  if (url.pathname.length < 2) throw invalidAddress("spec.source", "names no repository", gitForm);
  const isSsh = scheme === "ssh";
  if (isSsh && credentials?.password)
    throw invalidAddress(
      "spec.source",
      "has a password for SSH",
      "the address without it, and identity and known_hosts into the Secret that spec.sourceSecretName names",
    );
  if (isSsh && credentials !== undefined) url.username = credentials.username;
  requireRemote(url);
  requireKnown(parameters, names);
  requireSingle(parameters, names);
  const ref = parameters.get("ref") ?? "";
  if (ref !== "") requireRef("spec.source", ref);
  const depth = depthOf(parameters.get("depth"));
  const identityPem = identityOf(parameters.get("sshkey"), isSsh);
  return {
    kind: "git",
    url: url.href,
    ...(ref !== "" && { ref }),
    ...(depth !== undefined && { depth }),
    ...(!isSsh && credentials !== undefined && { credentials }),
    ...(identityPem !== undefined && { identityPem }),
    path: tree,
  };
}

/** Throws HELMFILE_SOURCE_INVALID for a text that Git does not take as the name of a branch or a tag, such as an option. */
export function requireRef(field: "spec.source" | "spec.version", ref: string): void {
  const isName = /^[^\s\p{C}~^:?*[\\-][^\s\p{C}~^:?*[\\]{0,254}$/u.test(ref);
  if (!isName || /\.\.|@\{|\/\/|^\/|[/.]$/.test(ref))
    throw invalidAddress(
      field,
      "is not the name of a branch, a tag or a commit",
      "one as git branch, git tag or git log show it",
    );
}

/** The rules of the Git client, whose messages name fields of other kinds. */
function requireRemote(url: URL): void {
  try {
    parseRemote(url.href);
  } catch {
    throw invalidAddress("spec.source", "has a host or a user that Git does not take", gitForm);
  }
}

function depthOf(text = ""): number | undefined {
  if (text === "") return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw invalidAddress(
      "spec.source",
      "has a depth that is not a positive number",
      "the number of commits that are fetched, as in depth=1",
    );
  return Number(text);
}

function identityOf(text = "", isSsh: boolean): string | undefined {
  if (text === "") return undefined;
  if (!isSsh)
    throw invalidAddress("spec.source", "has an sshkey, but is not read by SSH", "git::ssh://");
  const pem = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64").toString() : "";
  if (!/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(pem) || /[^\t\n\r -~]/.test(pem))
    throw invalidAddress(
      "spec.source",
      "has an sshkey that is not a private key in base64",
      "the output of base64 -w0 for the file of the key, or better put the key into the Secret that spec.sourceSecretName names",
    );
  return pem;
}
