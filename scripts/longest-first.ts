/** Starts the test files that take longest first, so that no core is idle while the last of them runs. */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./run.ts";

/** Over a minute where three run at a time on two cores. The others follow as Vitest sorts them: by their last duration, or by size. */
const longest = [
  "hub/src/rollout/stages/staged-history.test.ts",
  "e2e/src/cli/fleet.test.ts",
  "e2e/src/install/walk.test.ts",
  "e2e/src/helmrelease/git-bad-input.test.ts",
  "e2e/src/plan/plan.test.ts",
  "e2e/src/agent/refused-charts.test.ts",
  "e2e/src/agent/agent.test.ts",
  "e2e/src/helmrelease/git-trees.test.ts",
  "e2e/src/agent/forged-records.test.ts",
  "e2e/src/helmrelease/git-sources.test.ts",
  "e2e/src/dashboard/pages.test.ts",
  "e2e/src/agent/remediation.test.ts",
  "e2e/src/disaster/restored-hub.test.ts",
  "e2e/src/journey/journey.test.ts",
  "e2e/src/helmrelease/bucket-sources.test.ts",
  "e2e/src/agent/in-fleet.test.ts",
  "e2e/src/disaster/lost-hub.test.ts",
  "e2e/src/install/uninstall.test.ts",
  "e2e/src/helmrelease/fleet.test.ts",
  "e2e/src/replicas/replicas.test.ts",
  "e2e/src/agent/release-options.test.ts",
  "e2e/src/helmrelease/oci-sources.test.ts",
  "e2e/src/dashboard/rollout.test.ts",
  "e2e/src/simulate/simulate.test.ts",
  "e2e/src/dashboard/oidc.test.ts",
];

/**
 * Files whose hub's own cluster is enrolled. They follow one another, because their control planes are of a kind of their own, and one
 * that waits for the next file costs processor time.
 */
const onLocalCluster =
  /^e2e\/src\/(helmrelease\/|flux-forms\/|policy\/provenance|receiver\/flux-|requests\/helmrelease-|notification\/(helmreleases|sources)|install\/uninstall-)/;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const path = relative(root, moduleId);
      const index = longest.indexOf(path);
      if (index >= 0) return index;
      return longest.length + (onLocalCluster.test(path) ? 0 : 1);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
