/** The address of a helmfile for people: in statuses, events and logs. Pure. */
import { cutText } from "../../text/text/index.ts";
import { decodePart, isSecretParameter, plainName } from "./parameters.ts";
import { parseHelmfileAddress } from "./parse-address.ts";
import { longestAddress } from "./split-address.ts";

const mask = "***";
const shownCharacters = 500;

/** The parts of an address that can be parsed. The user ends at the last `@` before the path. */
const addressForm =
  /^(?<before>(?:[a-z0-9]+::)?(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?)(?:(?<user>[^/?]*)@)?(?<rest>[^?]*)(?:\?(?<query>.*))?$/is;
/** A path, as of a file: it separates no user, password or parameter from anything. */
const plainPath = /^[\w./~ -]*$/;
const knownBeginning =
  /^(?:(?:git|hg|smb|s3|gcs|file|https?)::)?(?:(?:https?|ssh|s3|oci|file|git|gs|smb):\/\/)?/i;

/**
 * Any text that a user wrote as an address, with `***` for user names and passwords, for a private key and for parameters whose names
 * sound like secrets. What is not an address is masked behind its scheme, because a secret may be anywhere in it.
 */
export function maskAddress(text: string): string {
  if (text.length > longestAddress) return `an address of ${text.length} characters`;
  return cutText(masked(text.trim()), shownCharacters);
}

function masked(text: string): string {
  if (plainPath.test(text)) return text;
  const found = isAddress(text) ? addressForm.exec(text)?.groups : undefined;
  if (found === undefined) return `${knownBeginning.exec(text)?.[0] ?? ""}${mask}`;
  const { before = "", scheme = "", user, rest = "", query } = found;
  // SSH has no passwords in addresses; for all others the user name may be the token.
  const shownUser = /^(?:ssh)?$/i.test(scheme) ? user : mask;
  return [
    before,
    user === undefined ? "" : `${shownUser}@`,
    maskPath(rest, scheme),
    query === undefined ? "" : `?${query.replace(/[^&?]+/g, maskParameter)}`,
  ].join("");
}

function isAddress(text: string): boolean {
  try {
    parseHelmfileAddress(text);
    return true;
  } catch {
    return false;
  }
}

/** A path that holds another address, or parameters without their `?`. */
function maskPath(path: string, scheme: string): string {
  const clean = path.replace(/[^/&;@]+/g, (written) => (hidesSecret(written) ? mask : written));
  return scheme.toLowerCase() === "oci" ? clean : clean.replace(/:[^/@]*@/g, `:${mask}@`);
}

function maskParameter(written: string): string {
  const at = written.indexOf("=");
  const name = at < 0 ? written : written.slice(0, at);
  const decoded = decodePart(name) ?? "";
  // Without a value the name itself may be one.
  if (at < 0 || !plainName.test(decoded)) return mask;
  const value = written.slice(at + 1);
  const isSecret =
    isSecretParameter(decoded) || hidesSecret(value) || /:.*@/s.test(decodePart(value) ?? "");
  return isSecret ? `${name}=${mask}` : written;
}

/** Whether a text has the form of a parameter with a secret, encoded or not. */
function hidesSecret(written: string): boolean {
  const decoded = decodePart(written) ?? "";
  return decoded.includes("=") && isSecretParameter(decoded);
}
