/** Where the submodules of a commit come from, and with which credentials. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import type { RepositoryAccess } from "../index.ts";
import { gitErrors } from "./errors.ts";
import { parseRemote } from "./remote.ts";

/** Path to address, from the output of `git config -z --list` for `.gitmodules`. */
export function parseModules(output: string): ReadonlyMap<string, string> {
  const modules = new Map<string, { path?: string; url?: string }>();
  for (const entry of output.split("\0")) {
    const [, name, field, value] = /^submodule\.(.+)\.(path|url)\n(.*)$/s.exec(entry) ?? [];
    if (name === undefined || value === undefined) continue;
    const known = modules.get(name) ?? {};
    if (field === "path") known.path = value;
    else known.url = value;
    modules.set(name, known);
  }
  return new Map(
    [...modules.values()].flatMap(({ path, url }) =>
      path === undefined || url === undefined ? [] : [[path.replace(/\/$/, ""), url] as const],
    ),
  );
}

/** The address of a submodule; a relative one starts at the address of its repository. Throws GIT_CONTENT_INVALID. */
export function submoduleUrl(parent: string, url: string, path: string): string {
  const isRelative = /^\.\.?\//.test(url);
  const scp = /^(?:([\w.-]+)@)?([\w.-]+):(?![/:])(.+)$/.exec(url);
  const absolute = isRelative
    ? (URL.parse(url, `${parent.replace(/\/+$/, "")}/`)?.href ?? "")
    : scp !== null && !url.includes("://")
      ? `ssh://${scp[1] ?? "git"}@${scp[2]}/${(scp[3] ?? "").replace(/^\//, "")}`
      : url;
  try {
    if (/^https?:|^ssh:/i.test(absolute)) return parseRemote(absolute).url.href;
  } catch {
    // Refused below.
  }
  throw new AppError(
    gitErrors.GIT_CONTENT_INVALID,
    `the submodule ${path} has an address that is not fetched: only https, http and ssh without credentials are`,
  );
}

/** Credentials are for the host of the repository only; the authorities and the proxy serve all. */
export function submoduleAccess(
  parentUrl: string,
  access: RepositoryAccess,
  url: string,
  path: string,
): RepositoryAccess {
  const parent = parseRemote(parentUrl);
  const remote = parseRemote(url);
  const isSame =
    parent.url.protocol === remote.url.protocol &&
    parent.endpoint.host === remote.endpoint.host &&
    parent.endpoint.port === remote.endpoint.port;
  if (isSame) return access;
  if (remote.isSsh)
    throw new AppError(
      gitErrors.GIT_CONTENT_INVALID,
      `the submodule ${path} is at ${remote.description}, by SSH at another host than its repository, which has no credentials`,
    );
  const { caPem, proxy } = access;
  return {
    origin: remote.url.origin,
    ...(caPem !== undefined && { caPem }),
    ...(proxy !== undefined && { proxy }),
  };
}
