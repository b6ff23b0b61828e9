/** Docker's configuration (`kubernetes.io/dockerconfigjson`): selects the credentials for the host of a source. Pure. */

import * as z from "zod";
import type { AppError } from "../../../runtime/errors/index.ts";
import { parseBounded } from "../../../text/json/index.ts";
import { type AccessSettings, parseOciName, registryHost, type SourceLocation } from "../index.ts";
import { invalidSecret as invalid } from "./secret-texts.ts";

const entrySchema = z.object({
  /** base64 of `username:password`. */
  auth: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  identitytoken: z.string().optional(),
  registrytoken: z.string().optional(),
});
const configSchema = z.object({ auths: z.record(z.string(), entrySchema) });

type Entry = z.infer<typeof entrySchema>;

/** The host and path that an entry is for. */
interface Scope {
  readonly host: string;
  readonly path: string;
}

/** Empty when there is no entry for the host: the entries may be for other sources of the same HelmOp. */
export function dockerCredentials(
  config: string,
  source: SourceLocation,
): AccessSettings | AppError {
  const parsed = configSchema.safeParse(parseJson(config));
  if (!parsed.success)
    return invalid(".dockerconfigjson of the secret is not JSON with `auths` by host");
  const target = scopeOfSource(source);
  const [best] = Object.entries(parsed.data.auths)
    .map(([key, entry]) => ({ key, entry, scope: scopeOfKey(key) }))
    .filter(({ scope }) => target !== undefined && covers(scope, target))
    .toSorted(
      (a, b) => b.scope.path.length - a.scope.path.length || stars(a.scope) - stars(b.scope),
    );
  return best === undefined ? {} : credentialsOf(best.entry, best.scope.host);
}

function credentialsOf(entry: Entry, host: string): AccessSettings | AppError {
  if (entry.registrytoken) return { bearerToken: entry.registrytoken };
  if (entry.identitytoken) return { identityToken: entry.identitytoken };
  const { auth, username: givenUsername, password: givenPassword } = entry;
  const text = auth ? Buffer.from(auth, "base64").toString() : undefined;
  const colon = text?.indexOf(":") ?? -1;
  if (text !== undefined && colon < 1) {
    return invalid(
      `the entry for ${host} in .dockerconfigjson of the secret has an auth that is not base64 of username:password`,
    );
  }
  // As in Docker, `auth` takes precedence over `username` and `password`.
  const username = text === undefined ? givenUsername : text.slice(0, colon);
  const password = text === undefined ? givenPassword : text.slice(colon + 1);
  if (username && password) return { username, password };
  return invalid(
    `the entry for ${host} in .dockerconfigjson of the secret has neither auth, nor username and password, nor a token`,
  );
}

function scopeOfSource(source: SourceLocation): Scope | undefined {
  if (source.kind === "oci") {
    const name = parseOciName(source.repository);
    return name && { host: registryHost(name.host), path: name.path };
  }
  const url = URL.parse(source.kind === "http" ? source.repository : source.url);
  return url === null ? undefined : { host: url.host, path: url.pathname.slice(1) };
}

/** `host`, `host/path`, or an address as Docker used to write it: `https://index.docker.io/v1/`. */
function scopeOfKey(key: string): Scope {
  const [host = "", ...path] = key.replace(/^https?:\/\//i, "").split("/");
  const isOld = /^v[12]$/.test(path[0] ?? "");
  return {
    host: registryHost(host.toLowerCase()),
    path: isOld ? "" : path.filter((part) => part !== "").join("/"),
  };
}

/** As in the kubelet: `*` matches within one label of a host's name, and a path covers everything below it. */
function covers(scope: Scope, target: Scope): boolean {
  const [parts, targetParts] = [scope.host.split("."), target.host.split(".")];
  const isHost =
    parts.length === targetParts.length &&
    parts.every((part, index) => fits(part, targetParts[index] ?? ""));
  return (
    isHost &&
    (scope.path === "" || target.path === scope.path || target.path.startsWith(`${scope.path}/`))
  );
}

/** Without a regular expression, which could take exponential time. */
function fits(pattern: string, text: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  const end = rest.pop();
  if (end === undefined) return pattern === text;
  if (!text.startsWith(start) || !text.slice(start.length).endsWith(end)) return false;
  let left = text.slice(start.length, text.length - end.length);
  for (const piece of rest) {
    const at = left.indexOf(piece);
    if (at === -1) return false;
    left = left.slice(at + piece.length);
  }
  return true;
}

/** A host without patterns takes precedence over one with patterns. */
function stars({ host }: Scope): number {
  return host.split("*").length;
}

/** Undefined for invalid JSON; the error is dropped, because it quotes the text. */
function parseJson(text: string): unknown {
  try {
    return parseBounded(text);
  } catch {
    return undefined;
  }
}
