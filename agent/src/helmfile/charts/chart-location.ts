/** Where the chart of a command is, if it is not a path of the run. Pure. */
import {
  type AccessSettings,
  accessTo,
  type RepositoryAccess,
  type SourceLocation,
} from "@flotilla/shared/source";

/** What `repo add` and `registry login` of the run have said. Never log it. */
export type RunCredentials = Pick<
  AccessSettings,
  "username" | "password" | "passCredentials" | "insecureSkipVerify"
>;

export interface RunRepository extends RunCredentials {
  readonly url: string;
}

/** What the run has named before. */
export interface KnownRepositories {
  readonly repositories: ReadonlyMap<string, RunRepository>;
  /** By host. */
  readonly logins: ReadonlyMap<string, RunCredentials>;
}

export type FoundLocation =
  | {
      readonly kind: "found";
      readonly location: SourceLocation;
      readonly access: RepositoryAccess;
    }
  /** A sentence for people, without the reference, which may hold a password. */
  | { readonly kind: "unknown"; readonly why: string };

export function locationOf(chart: string, known: KnownRepositories): FoundLocation {
  if (/^oci:\/\//i.test(chart)) {
    const host =
      chart
        .replace(/^oci:\/\//i, "")
        .split("/", 1)[0]
        ?.toLowerCase() ?? "";
    const credentials = known.logins.get(host) ?? {};
    return found({ kind: "oci", repository: chart }, credentials);
  }
  if (/^https?:\/\//i.test(chart)) return archiveAt(chart);
  const [name = "", ...rest] = chart.split("/");
  const repository = known.repositories.get(name);
  if (rest.length === 0 || repository === undefined)
    return {
      kind: "unknown",
      why: "is neither a folder nor an archive of the source, nor of a repository that the helmfile names",
    };
  const { url, ...credentials } = repository;
  return found({ kind: "http", repository: url, chart: rest.join("/") }, credentials);
}

function found(location: SourceLocation, credentials: RunCredentials = {}): FoundLocation {
  return { kind: "found", location, access: accessTo(location, credentials) };
}

function archiveAt(chart: string): FoundLocation {
  const url = URL.parse(chart);
  if (url === null || url.username !== "" || url.password !== "")
    return {
      kind: "unknown",
      why: "has an address with a user name or a password, or none at all: name a Secret in spec.sourceSecretName",
    };
  return found({ kind: "tarball", url: chart });
}
