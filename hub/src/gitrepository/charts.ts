/** Charts of GitRepositories: their Chart.yaml is read at the commit of the artifact. Agents make the archive. */
import { posix } from "node:path";
import type { GitRepository } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describeUrl, type GitPin } from "@flotilla/shared/source";
import { cleanPath, type GitClient } from "@flotilla/shared/source/git";
import { isUsable, type ReadSecret, SourceError } from "../fluxsource/index.ts";
import {
  type ChartFromSource,
  chartFileOfArchive,
  invalidChart,
  keepMadeChart,
  keptDependencies,
  maxArchiveBytes,
  parseChartFile,
  pinOfArtifact,
  presentValuesFiles,
  repositoriesOf,
  treeChartVersion,
} from "../helmchart/index.ts";
import type { PinSigner } from "../resolve/index.ts";
import { accessSecrets, gitAccess, timeoutMsOf } from "./access.ts";
import { gitFailure } from "./git-failure.ts";
import type { MintToken } from "./github-app.ts";
import { treeDigest } from "./tree.ts";
import { createTreeFiles } from "./tree-files.ts";

export interface GitChartDeps {
  readonly store: Pick<Store<GitRepository>, "get">;
  readonly git: Pick<GitClient, "readFiles">;
  readonly mint: MintToken;
  readonly signer: Pick<PinSigner, "isSigned">;
}

export function chartsOfGitRepositories(deps: GitChartDeps): ChartFromSource<GitRepository> {
  const { store, mint, signer } = deps;
  const treeFiles = createTreeFiles(deps.git);

  function includedOf({ metadata, spec }: GitRepository): readonly (GitRepository | undefined)[] {
    return (spec?.include ?? []).map(({ repository: { name } }) =>
      store.get(keyOf({ namespace: metadata.namespace ?? "", name })),
    );
  }

  /** Reads files of the tree, each from the repository that it comes from. */
  async function readFiles(
    repository: GitRepository,
    pin: GitPin,
    paths: readonly string[],
    inputs: { readonly secret: ReadSecret; readonly signal: AbortSignal },
  ): Promise<ReadonlyMap<string, Buffer | undefined>> {
    const included = includedOf(repository);
    const files = new Map<string, Buffer | undefined>();
    const places = paths.map((path) => ({ path, place: placeOf(pin, path) }));
    for (const at of new Set(places.map(({ place }) => place.include))) {
      const source = at === undefined ? repository : included[at];
      const tree = at === undefined ? pin : pin.include?.[at];
      if (source === undefined || tree === undefined) continue;
      const here = places.filter(({ place }) => place.include === at);
      const access = await gitAccess(source, inputs.secret, { mint, signal: inputs.signal });
      const { uid = "" } = source.metadata;
      const found = await treeFiles.read(
        { uid, url: tree.url, commit: tree.commit },
        here.map(({ place }) => place.path),
        {
          access,
          signal: inputs.signal,
          timeoutMs: timeoutMsOf(repository),
          maxBytes: maxArchiveBytes,
        },
      );
      for (const { path, place } of here) files.set(path, found.get(place.path));
    }
    return files;
  }

  return {
    find: (key) => store.get(key),
    secretsOf: (repository) => {
      const all = [repository, ...includedOf(repository)];
      return [...new Set(all.flatMap((each) => (each === undefined ? [] : accessSecrets(each))))];
    },
    revisionOf: (repository) => {
      const { artifact } = repository.status ?? {};
      return isUsable(repository) && artifact !== undefined
        ? `${artifact.revision} ${artifact.digest}`
        : undefined;
    },
    addressOf: ({ spec }) => spec?.url ?? "",
    isPolled: () => false,
    async resolve(repository, { chart, spec, secret, signal }) {
      const tree = pinOfArtifact(
        "GitRepository",
        repository.metadata,
        repository.status?.artifact,
        signer,
      );
      if (tree?.kind !== "git")
        throw new SourceError(
          "NoSourceArtifact",
          `the artifact of the GitRepository ${repository.metadata.name} is not from this hub; continuing as soon as it is reconciled`,
        );
      try {
        const path = chartPath(spec.chart);
        const chartFile = posix.join(path, "Chart.yaml");
        const { valuesFiles = [], ignoreMissingValuesFiles } = spec;
        const requirementsFile = posix.join(path, "requirements.yaml");
        const paths = [
          ...new Set([
            ...(path === "." ? [] : [path]),
            ...[chartFile, requirementsFile],
            ...valuesFiles.map(cleanPath),
          ]),
        ];
        const files = await readFiles(repository, tree, paths, { secret, signal });
        const commit = `commit ${tree.commit} of ${describeUrl(tree.url)}`;
        const where = `${path} of ${commit}`;
        const archive = files.get(path);
        const text =
          archive === undefined
            ? files.get(chartFile)?.toString()
            : await chartFileOfArchive(archive, where);
        if (text === undefined)
          throw invalidChart(
            where,
            "there is neither a Chart.yaml below it nor a packaged chart: spec.chart is a path from the root of the repository",
          );
        const { name, version } = parseChartFile(text, where);
        const present = presentValuesFiles(
          spec,
          (file) => files.get(cleanPath(file)) !== undefined,
          commit,
        );
        const pin: GitPin = {
          ...tree,
          version: treeChartVersion(chart, version, tree.commit),
          path,
          build: { ...(present.length > 0 && { valuesFiles: present.map(cleanPath) }) },
        };
        const url = describeUrl(tree.url);
        const before = pinOfArtifact("HelmChart", chart.metadata, chart.status?.artifact, signer);
        const earlier = before?.kind === "git" ? before : undefined;
        const result = keepMadeChart(chart, earlier, { name, pin });
        // A packaged chart has its dependencies in it.
        const repositories =
          archive === undefined
            ? repositoriesOf(text, files.get(requirementsFile)?.toString())
            : [];
        return {
          name,
          pin: result,
          dependencies:
            result === pin ? repositories : keptDependencies(chart, repositories, signer),
          digest: treeDigest(result),
          url,
          ...(ignoreMissingValuesFiles === true && {
            valuesFiles: present,
          }),
        };
      } catch (thrown) {
        throw gitFailure(thrown);
      }
    },
  };
}

/** Which repository a path of the whole tree comes from, and where it is there; the last include wins. Pure. */
export function placeOf(
  pin: Pick<GitPin, "include">,
  path: string,
): { readonly include: number | undefined; readonly path: string } {
  const includes = pin.include ?? [];
  const at = includes.findLastIndex(({ toPath }) => {
    const to = cleanPath(toPath);
    return to === "" || path === to || path.startsWith(`${to}/`);
  });
  const include = includes[at];
  if (include === undefined) return { include: undefined, path };
  const rest = path.slice(cleanPath(include.toPath).length);
  return { include: at, path: cleanPath(`${include.fromPath}/${rest}`) };
}

function chartPath(path: string): string {
  const clean = cleanPath(path);
  return clean === "" ? "." : clean;
}
