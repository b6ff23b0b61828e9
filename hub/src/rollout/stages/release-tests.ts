/** What the tests of releases mean for a rollout: by the options of each target, as they are pinned. Pure. */
import type { Bundle, BundleDeploymentOptions } from "@flotilla/shared/api";
import type { BundleRollout, ReleaseTests } from "@flotilla/shared/api/rollout";

/** What the tests of a release with these options mean. */
export function releaseTestsOf({ test }: Pick<BundleDeploymentOptions, "test">): ReleaseTests {
  if (test?.enable !== true) return "None";
  return test.ignoreFailures === true ? "Ignored" : "Required";
}

/** Says of a content of the revision what the tests of its release mean. */
export function releaseTestsIn(
  bundle: Bundle,
  { spec }: Pick<BundleRollout, "spec">,
): (content: string) => ReleaseTests {
  const pinned = new Map(
    spec.targets.map(({ deploymentID, tests }) => [deploymentID, tests] as const),
  );
  return (content) => pinned.get(content) ?? releaseTestsOf(bundle.spec);
}
