/** Charts of GitRepositories: their Chart.yaml is read at the commit of the artifact. Agents make the archive. */
import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { GitRepository } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describeUrl, type GitPin } from "@flotilla/shared/source";
import type { GitClient } from "@flotilla/shared/source/git";
import { isUsable, noSourceArtifact, type ReadSecret } from "../fluxsource/index.ts";
import {
  type ChartFromSource,
  invalidChart,
  keepMadeChart,
  keptDependencies,
  pinOfArtifact,
  presentValuesFiles,
  provenanceOfArtifact,
  provenanceText,
  readChartFile,
  treeChartVersion,
} from "../helmchart/index.ts";
import type { ReadChart } from "../reader/index.ts";
import type { PinSigner } from "../resolve/index.ts";
import { accessSecrets, type GitAccessDeps, gitAccess, timeoutMsOf } from "./access.ts";
import { chartPaths, isCheckedOut, placeOf } from "./chart-paths.ts";
import { gitFailure } from "./git-failure.ts";
import { createKeptCommits } from "./kept-commits.ts";
import { treeDigest } from "./tree.ts";
import {
  createTreeFiles,
  type FoundTree,
  type TreeFile,
  type TreeFilesDeps,
  type TreePaths,
} from "./tree-files.ts";

export interface GitChartDeps extends GitAccessDeps {
  readonly store: Pick<Store<GitRepository>, "get">;
  readonly git: Pick<GitClient, "readFiles" | "resolve">;
  readonly budget: TreeFilesDeps["budget"];
  readonly readChart: ReadChart;
  readonly signer: Pick<PinSigner, "isSigned">;
}

export function chartsOfGitRepositories(deps: GitChartDeps): ChartFromSource<GitRepository> {
  const { store, signer } = deps;
  const treeFiles = createTreeFiles(deps);
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
    paths: TreePaths,
    inputs: { readonly secret: ReadSecret; readonly signal: AbortSignal },
  ): Promise<FoundTree> {
    const included = includedOf(repository);
    /** Where a path of the whole tree was found. */
    const found = new Map<string, { readonly path: string; readonly in: FoundTree }>();
    const all = [...new Set([...paths.contents, ...paths.listed])];
    const places = all.map((path) => ({ path, place: placeOf(pin, path) }));
    for (const at of new Set(places.map(({ place }) => place.include))) {
      const source = at === undefined ? repository : included[at];
      const tree = at === undefined ? pin : pin.include?.[at];
      if (source === undefined || tree === undefined) continue;
      const here = places.filter(
        ({ place }) => place.include === at && isCheckedOut(tree, place.path),
      );
      const access = await gitAccess(source, inputs, deps);
      const { uid = "", namespace = "" } = source.metadata;
      const placesOf = (wanted: readonly string[]) => {
        const set = new Set(wanted);
        return here.flatMap(({ path, place }) => (set.has(path) ? [place.path] : []));
      };
      const files = await treeFiles.read(
        { uid, ...tree },
        { contents: placesOf(paths.contents), listed: placesOf(paths.listed) },
        { access, namespace, signal: inputs.signal, timeoutMs: timeoutMsOf(repository) },
      );
      for (const { path, place } of here) found.set(path, { path: place.path, in: files });
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

  /** Whether agents can still fetch the commit of a chart that was made earlier. */
  async function isKept(
    repository: GitRepository,
    { kept, current }: { readonly kept: GitPin; readonly current: GitPin },
    inputs: { readonly secret: ReadSecret; readonly signal: AbortSignal },
  ): Promise<boolean> {
    // From another address it may be fetched with other credentials.
    if (kept.url !== current.url) return true;
    const access = await gitAccess(repository, inputs, deps);
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
        ? `${artifact.revision} ${artifact.digest} ${provenanceText(artifact)}`
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
        const paths = {
          contents: [...(path === "." ? [] : [path]), chartFile, requirementsFile],
          listed: [...new Set(valuesFiles.values())],
        };
        const files = await readFiles(repository, tree, paths, { secret, signal });
        const where = `${path} of ${commit}`;
        const packaged = files.content(path);
        const text = textOf(packaged) ?? textOf(files.content(chartFile));
        if (text === undefined)
          throw invalidChart(
            where,
            "there is neither a Chart.yaml below it nor a packaged chart: spec.chart is a path from the root of the repository",
          );
        // A packaged chart has its dependencies in it.
        const isPackaged = packaged !== undefined;
        const requirements = isPackaged ? undefined : textOf(files.content(requirementsFile));
        const read = await readChartFile(deps.readChart, { chart: text, requirements }, where);
        const { name, version } = read;
        const present = presentValuesFiles(
          spec,
          (file) => files.has(valuesFiles.get(file) ?? ""),
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
        const provenance = {
          now: provenanceOfArtifact(
            "GitRepository",
            repository.metadata,
            repository.status?.artifact,
            signer,
          ),
          earlier: provenanceOfArtifact(
            "HelmChart",
            chart.metadata,
            chart.status?.artifact,
            signer,
          ),
        };
        const kept = keepMadeChart(chart, earlier, { name, pin });
        const isThere =
          kept === pin || (await isKept(repository, { kept, current: tree }, { secret, signal }));
        const result = isThere ? kept : pin;
        const repositories = isPackaged ? [] : read.repositories;
        const isOfNow = isDeepStrictEqual(result, pin);
        return {
          name,
          pin: result,
          provenance: (isOfNow ? provenance.now : provenance.earlier) ?? [],
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

/** Of a file, or the Chart.yaml of a packaged chart. Throws why that has none. */
function textOf(file: TreeFile | undefined): string | undefined {
  if (file?.kind !== "archive") return file?.text;
  if (typeof file.chart === "string") return file.chart;
  throw file.chart;
}
