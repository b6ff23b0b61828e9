/** Docker's configuration (`kubernetes.io/dockerconfigjson`): credentials by host, of which a source gets its own host's. Pure. */
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { type AccessSettings, registryHost } from "../access.ts";
import { chartErrors } from "../errors.ts";
import { parseOciName, type SourceLocation } from "../location.ts";

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

/** A host, and the part of it that an entry is for. */
interface Place {
  readonly host: string;
  readonly path: string;
}

/** Nothing where the configuration has no entry for the source's host: it may be for others of the same HelmOp. */
export function dockerCredentials(
  config: string,
  source: SourceLocation,
): AccessSettings | AppError {
  const parsed = configSchema.safeParse(parseJson(config));
  if (!parsed.success)
    return invalid(".dockerconfigjson of the secret is not JSON with `auths` by host");
  const wanted = placeOfSource(source);
  const [best] = Object.entries(parsed.data.auths)
    .map(([key, entry]) => ({ key, entry, place: placeOfKey(key) }))
    .filter(({ place }) => wanted !== undefined && covers(place, wanted))
    .toSorted(
      (a, b) => b.place.path.length - a.place.path.length || stars(a.place) - stars(b.place),
    );
  return best === undefined ? {} : credentialsOf(best.entry, best.place.host);
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
  // As in Docker, `auth` wins over the two in plain text.
  const username = text === undefined ? givenUsername : text.slice(0, colon);
  const password = text === undefined ? givenPassword : text.slice(colon + 1);
  if (username && password) return { username, password };
  return invalid(
    `the entry for ${host} in .dockerconfigjson of the secret has neither auth, nor username and password, nor a token`,
  );
}

function placeOfSource(source: SourceLocation): Place | undefined {
  if (source.kind === "oci") {
    const name = parseOciName(source.repository);
    return name && { host: registryHost(name.host), path: name.path };
  }
  const url = URL.parse(source.kind === "http" ? source.repository : source.url);
  return url === null ? undefined : { host: url.host, path: url.pathname.slice(1) };
}

/** `host`, `host/path`, or an address as Docker used to write it: `https://index.docker.io/v1/`. */
function placeOfKey(key: string): Place {
  const [host = "", ...path] = key.replace(/^https?:\/\//i, "").split("/");
  const isOld = /^v[12]$/.test(path[0] ?? "");
  return {
    host: registryHost(host.toLowerCase()),
    path: isOld ? "" : path.filter((part) => part !== "").join("/"),
  };
}

/** As the kubelet has it: a `*` stands for what is in one part of a host's name, and a path covers what is below it. */
function covers(place: Place, wanted: Place): boolean {
  const [parts, wantedParts] = [place.host.split("."), wanted.host.split(".")];
  const isHost =
    parts.length === wantedParts.length &&
    parts.every((part, index) => fits(part, wantedParts[index] ?? ""));
  return (
    isHost &&
    (place.path === "" || wanted.path === place.path || wanted.path.startsWith(`${place.path}/`))
  );
}

/** No regular expression, which could be made to take for ever. */
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

/** A host by its own name is meant more than one by a pattern. */
function stars({ host }: Place): number {
  return host.split("*").length;
}

/** The failure is left out: it quotes the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalid(message: string): AppError {
  return new AppError(chartErrors.REPOSITORY_SECRET_INVALID, message);
}
