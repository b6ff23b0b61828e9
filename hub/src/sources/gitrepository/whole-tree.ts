/** Files of the whole tree of a GitRepository: its own, and the files of the repositories that it includes. */
import type { GitRepository } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { GitPin, GitTree } from "@flotilla/shared/source";
import type { ReadSecret } from "../fluxsource/source-controller.ts";
import { type GitAccessDeps, gitAccess, timeoutMsOf } from "./access.ts";
import { isCheckedOut, placeOf } from "./chart-paths.ts";
import type { FoundTree, TreeFiles, TreePaths } from "./tree-files.ts";

export interface WholeTreeParts extends GitAccessDeps {
  readonly store: Pick<Store<GitRepository>, "get">;
  readonly treeFiles: TreeFiles;
}

/** A GitRepository, the pin of its artifact, and with what it is read. */
export interface TreeInputs {
  readonly repository: GitRepository;
  readonly tree: GitPin;
  readonly secret: ReadSecret;
  readonly signal: AbortSignal;
}

/** What it includes, in the order of its spec. */
export function includedOf(
  { metadata, spec }: GitRepository,
  store: Pick<Store<GitRepository>, "get">,
): readonly (GitRepository | undefined)[] {
  return (spec?.include ?? []).map(({ repository: { name } }) =>
    store.get(keyOf({ namespace: metadata.namespace ?? "", name })),
  );
}

interface Place {
  /** In the whole tree. */
  readonly path: string;
  /** In the tree of the repository that it comes from. */
  readonly in: string;
}

/**
 * Reads files, each from the repository that it comes from; one that does not exist any more has none. Throws a SourceError for the
 * access, and what `GitClient.readFiles` throws.
 */
export async function readWholeTree(
  parts: WholeTreeParts,
  inputs: TreeInputs,
  paths: TreePaths,
): Promise<FoundTree> {
  const { repository, tree } = inputs;
  const included = includedOf(repository, parts.store);
  const found = new Map<string, { readonly path: string; readonly in: FoundTree }>();
  for (const [at, places] of placesByInclude(tree, paths)) {
    const source = at === undefined ? repository : included[at];
    const its = at === undefined ? tree : tree.include?.[at];
    if (source === undefined || its === undefined) continue;
    const here = places.filter((place) => isCheckedOut(its, place.in));
    const files = await readPlaces(parts, inputs, { source, tree: its, places: here, paths });
    for (const place of here) found.set(place.path, { path: place.in, in: files });
  }
  return {
    content(path) {
      const place = found.get(path);
      return place?.in.content(place.path);
    },
    has(path) {
      const place = found.get(path);
      return place?.in.has(place.path) === true;
    },
  };
}

/** By the number of the include; undefined: the repository itself. */
function placesByInclude(
  tree: GitPin,
  paths: TreePaths,
): ReadonlyMap<number | undefined, readonly Place[]> {
  const all = [...new Set([...paths.contents, ...paths.listed])];
  const places = all.map((path) => ({ path, at: placeOf(tree, path) }));
  const byInclude = Map.groupBy(places, ({ at }) => at.include);
  return new Map(
    [...byInclude].map(([include, here]) => [
      include,
      here.map(({ path, at }) => ({ path, in: at.path })),
    ]),
  );
}

async function readPlaces(
  { treeFiles, mint }: WholeTreeParts,
  { repository, secret, signal }: TreeInputs,
  wanted: {
    readonly source: GitRepository;
    readonly tree: GitTree;
    readonly places: readonly Place[];
    readonly paths: TreePaths;
  },
): Promise<FoundTree> {
  const { source, tree, places, paths } = wanted;
  const access = await gitAccess(source, { secret, signal }, { mint });
  const { uid = "", namespace = "" } = source.metadata;
  const placesOf = (some: readonly string[]): readonly string[] => {
    const set = new Set(some);
    return places.flatMap((place) => (set.has(place.path) ? [place.in] : []));
  };
  return await treeFiles.read(
    { uid, ...tree },
    { contents: placesOf(paths.contents), listed: placesOf(paths.listed) },
    { access, namespace, signal, timeoutMs: timeoutMsOf(repository) },
  );
}
