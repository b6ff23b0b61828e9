/** Which commit a reference means, by what `git ls-remote` lists, with Flux's precedence and revisions. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import { selectVersion } from "../../version/index.ts";
import { gitErrors } from "./errors.ts";

/** `spec.ref` of a GitRepository. The first of commit, name, semver, tag and branch counts; without any: branch master. */
export interface GitReference {
  readonly branch?: string | undefined;
  readonly tag?: string | undefined;
  readonly semver?: string | undefined;
  /** As in `refs/pull/1/head`. */
  readonly name?: string | undefined;
  readonly commit?: string | undefined;
}

export interface RemoteRef {
  readonly name: string;
  /** The commit of an annotated tag, the one that it points to. */
  readonly commit: string;
  /** The object of an annotated tag itself. */
  readonly tagObject?: string;
}

export interface ResolvedReference {
  /** As in Flux's artifact: `main@sha1:…`. */
  readonly revision: string;
  readonly commit: string;
  /** The full name under which the server lists the commit, as in `refs/heads/main`; absent: only the commit was named. */
  readonly ref?: string;
  /** The tag that was selected. */
  readonly tag?: { readonly name: string; readonly object: string | undefined };
}

/** Which names are listed for a reference: all, or branches, or tags; undefined when it names a commit. */
export function listedRefs(ref: GitReference): "heads" | "tags" | "all" | undefined {
  if (isSet(ref.commit)) return undefined;
  if (isSet(ref.name)) {
    if (ref.name.startsWith("refs/heads/")) return "heads";
    return ref.name.startsWith("refs/tags/") ? "tags" : "all";
  }
  return isSet(ref.semver) || isSet(ref.tag) ? "tags" : "heads";
}

/** The output of `git ls-remote`; an annotated tag is followed by a line `<commit> <name>^{}`. */
export function parseRemoteRefs(output: string): readonly RemoteRef[] {
  const refs = new Map<string, RemoteRef>();
  for (const line of output.split("\n")) {
    const [, id, name] = /^([0-9a-f]{40})\t(.+)$/.exec(line) ?? [];
    if (id === undefined || name === undefined) continue;
    if (!name.endsWith("^{}")) {
      refs.set(name, { name, commit: id });
      continue;
    }
    const tag = name.slice(0, -"^{}".length);
    const object = refs.get(tag)?.commit;
    refs.set(tag, {
      name: tag,
      commit: id,
      ...(object !== undefined && { tagObject: object }),
    });
  }
  return [...refs.values()];
}

/** The revision of a reference that names a commit. */
export function commitReference({ commit, branch }: GitReference): ResolvedReference | undefined {
  if (!isSet(commit)) return undefined;
  if (!/^[0-9a-f]{40}$/.test(commit))
    throw new AppError(
      gitErrors.GIT_REFERENCE_NOT_FOUND,
      `spec.ref.commit "${commit}" is not the full id of a commit: 40 digits of 0-9 and a-f`,
    );
  const id = `sha1:${commit}`;
  return { revision: isSet(branch) ? `${branch}@${id}` : id, commit };
}

/** Throws GIT_REFERENCE_NOT_FOUND; `repository` is its address for the message. */
export function selectReference(
  refs: readonly RemoteRef[],
  ref: GitReference,
  repository: string,
): ResolvedReference {
  const named = commitReference(ref);
  if (named !== undefined) return named;
  if (isSet(ref.name)) return byName(refs, ref.name, ref.name, repository);
  if (isSet(ref.semver)) {
    const name = versionTag(refs, ref.semver, repository);
    return byName(refs, `refs/tags/${name}`, name, repository);
  }
  if (isSet(ref.tag)) return byName(refs, `refs/tags/${ref.tag}`, ref.tag, repository);
  const branch = isSet(ref.branch) ? ref.branch : "master";
  return byName(refs, `refs/heads/${branch}`, branch, repository);
}

function byName(
  refs: readonly RemoteRef[],
  name: string,
  shown: string,
  repository: string,
): ResolvedReference {
  const found = refs.find((each) => each.name === name);
  if (found === undefined)
    throw new AppError(
      gitErrors.GIT_REFERENCE_NOT_FOUND,
      `${repository} has no ${describeRef(name)}`,
    );
  const tag = name.startsWith("refs/tags/") ? name.slice("refs/tags/".length) : undefined;
  return {
    revision: `${shown}@sha1:${found.commit}`,
    commit: found.commit,
    // A name of another form could name a commit.
    ...(/^(?:HEAD$|refs\/)/.test(name) && { ref: name }),
    ...(tag !== undefined && { tag: { name: tag, object: found.tagObject } }),
  };
}

/** Only tags that are whole versions count, with or without `v`, as in Flux. */
function versionTag(refs: readonly RemoteRef[], constraint: string, repository: string): string {
  const tags = refs.flatMap(({ name }) => {
    const tag = name.startsWith("refs/tags/") ? name.slice("refs/tags/".length) : "";
    return /^v?\d+\.\d+\.\d+/.test(tag) ? [tag] : [];
  });
  const selection = selectVersion(tags, constraint, { kind: "index" });
  if (selection.kind === "found") return selection.text;
  if (selection.kind === "invalid")
    throw new AppError(
      gitErrors.GIT_REFERENCE_NOT_FOUND,
      `spec.ref.semver "${constraint}" is not a constraint: ${selection.error.message}`,
    );
  const highest =
    selection.highest.length === 0
      ? "it has no tag that is a version"
      : `its highest are ${selection.highest.join(", ")}`;
  throw new AppError(
    gitErrors.GIT_REFERENCE_NOT_FOUND,
    `${repository} has no tag that satisfies "${constraint}"; ${highest}`,
  );
}

function describeRef(name: string): string {
  if (name.startsWith("refs/heads/")) return `branch "${name.slice("refs/heads/".length)}"`;
  if (name.startsWith("refs/tags/")) return `tag "${name.slice("refs/tags/".length)}"`;
  return `reference "${name}"`;
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
