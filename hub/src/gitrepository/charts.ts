/** Charts of GitRepositories: their Chart.yaml is read at the commit of the artifact. Agents make the archive. */
import { posix } from "node:path";
import type { GitRepository } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describeUrl, type GitPin } from "@flotilla/shared/source";
import type { GitClient } from "@flotilla/shared/source/git";
import { isUsable, noSourceArtifact, type ReadSecret } from "../fluxsource/index.ts";
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
import { chartPaths, isCheckedOut, placeOf } from "./chart-paths.ts";
import { gitFailure } from "./git-failure.ts";
import type { MintToken } from "./github-app.ts";
import { createKeptCommits } from "./kept-commits.ts";
import { treeDigest } from "./tree.ts";
import { createTreeFiles } from "./tree-files.ts";

export interface GitChartDeps {
  readonly store: Pick<Store<GitRepository>, "get">;
  readonly git: Pick<GitClient, "readFiles" | "resolve">;
  readonly mint: MintToken;
  readonly signer: Pick<PinSigner, "isSigned">;
}

export function chartsOfGitRepositories(deps: GitChartDeps): ChartFromSource<GitRepository> {
  const { store, mint, signer } = deps;
  const treeFiles = createTreeFiles(deps.git);
  const keptCommits = createKeptCommits(deps.git);

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
      const here = places.filter(
        ({ place }) => place.include === at && isCheckedOut(tree, place.path),
      );
      const access = await gitAccess(source, inputs.secret, { mint, signal: inputs.signal });
      const { uid = "" } = source.metadata;
      const found = await treeFiles.read(
        { uid, ...tree },
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

  /** Whether agents can still fetch the commit of a chart that was made earlier. */
  async function isKept(
    repository: GitRepository,
    { kept, current }: { readonly kept: GitPin; readonly current: GitPin },
    inputs: { readonly secret: ReadSecret; readonly signal: AbortSignal },
  ): Promise<boolean> {
    // From another address it may be fetched with other credentials.
    if (kept.url !== current.url) return true;
    const access = await gitAccess(repository, inputs.secret, { mint, signal: inputs.signal });
    const { uid = "" } = repository.metadata;
    const request = { access, signal: inputs.signal, timeoutMs: timeoutMsOf(repository) };
    return await keptCommits.isThere({ uid, ...kept }, current, request);
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
        throw noSourceArtifact(
          `the artifact of the GitRepository ${repository.metadata.name} is not from this hub; continuing as soon as it is reconciled`,
        );
      try {
        const commit = `commit ${tree.commit} of ${describeUrl(tree.url)}`;
        const { chart: path, valuesFiles } = chartPaths(spec, commit);
        const chartFile = posix.join(path, "Chart.yaml");
        const requirementsFile = posix.join(path, "requirements.yaml");
        const paths = [
          ...new Set([
            ...(path === "." ? [] : [path]),
            ...[chartFile, requirementsFile],
            ...valuesFiles.values(),
          ]),
        ];
        const files = await readFiles(repository, tree, paths, { secret, signal });
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
          (file) => files.get(valuesFiles.get(file) ?? "") !== undefined,
          commit,
        );
        const pin: GitPin = {
          ...tree,
          version: treeChartVersion(chart, version, tree.commit),
          path,
          build: {
            ...(present.length > 0 && {
              valuesFiles: present.flatMap((file) => valuesFiles.get(file) ?? []),
            }),
          },
        };
        const url = describeUrl(tree.url);
        const before = pinOfArtifact("HelmChart", chart.metadata, chart.status?.artifact, signer);
        const earlier = before?.kind === "git" ? before : undefined;
        const kept = keepMadeChart(chart, earlier, { name, pin });
        const isThere =
          kept === pin || (await isKept(repository, { kept, current: tree }, { secret, signal }));
        const result = isThere ? kept : pin;
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
          ...(spec.ignoreMissingValuesFiles === true && {
            valuesFiles: present,
          }),
        };
      } catch (thrown) {
        throw gitFailure(thrown);
      }
    },
  };
}
