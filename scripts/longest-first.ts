/** Starts the test files that take longest first, so that no core is idle while the last of them runs. */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./run.ts";

/** Over twenty seconds on two cores. The others follow as Vitest sorts them: by their last duration, or by size. */
const longest = [
  "e2e/src/cli/fleet.test.ts",
  "e2e/src/disaster/lost-hub.test.ts",
  "e2e/src/journey/journey.test.ts",
  "e2e/src/agent/in-fleet.test.ts",
  "e2e/src/simulate/simulate.test.ts",
  "e2e/src/replicas/replicas.test.ts",
  "e2e/src/disaster/restored-hub.test.ts",
  "e2e/src/agent/agent.test.ts",
  "e2e/src/kube/server-unavailable.test.ts",
  "e2e/src/tenants/tenants.test.ts",
  "e2e/src/disaster/deregistration.test.ts",
  "local/src/control-plane/control-plane.test.ts",
  "e2e/src/bad-input/bad-input.test.ts",
  "e2e/src/cli/without-fleet.test.ts",
  "e2e/src/agent/values-templates.test.ts",
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
