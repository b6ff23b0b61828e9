/** Starts the test files that take longest first, so that no core is idle while the last of them runs. */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./run.ts";

/** Over a minute where three run at a time on two cores. The others follow as Vitest sorts them: by their last duration, or by size. */
const longest = [
  "e2e/src/cli/fleet.test.ts",
  "e2e/src/install/walk.test.ts",
  "e2e/src/helmrelease/git-bad-input.test.ts",
  "e2e/src/agent/refused-charts.test.ts",
  "e2e/src/agent/set-value.test.ts",
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

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.indexOf(relative(root, moduleId));
      return index < 0 ? longest.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
