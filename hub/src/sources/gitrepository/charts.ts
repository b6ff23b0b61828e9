/** Charts of GitRepositories: their Chart.yaml is read at the commit of the artifact. Agents make the archive. */
import type { GitRepository } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import type { GitClient } from "@flotilla/shared/source/git";
import type { ReadChart } from "../../base/index.ts";
import type { PinSigner } from "../../rules/index.ts";
import { isUsable } from "../fluxsource/source-status.ts";
import type { ChartFromSource } from "../helmchart/chart-source.ts";
import { provenanceText } from "../helmchart/provenance.ts";
import { accessSecrets, type GitAccessDeps } from "./access.ts";
import { gitFailure } from "./git-failure.ts";
import { createKeptCommits } from "./kept-commits.ts";
import { resolveChart, treeOf } from "./resolve-chart.ts";
import { createTreeFiles, type TreeFilesDeps } from "./tree-files.ts";
import { includedOf } from "./whole-tree.ts";

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

  return {
    find: (key) => store.get(key),
    secretsOf: (repository) => {
      const all = [repository, ...includedOf(repository, store)];
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
      const inputs = { repository, tree: treeOf(repository, signer), secret, signal };
      try {
        return await resolveChart({ ...deps, treeFiles, keptCommits }, inputs, { chart, spec });
      } catch (thrown) {
        throw gitFailure(thrown);
      }
    },
  };
}
