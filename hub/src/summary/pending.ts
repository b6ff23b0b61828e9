/** How many of a Bundle's deployments are still to be made. Pure. */
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import type { BundleTargeting } from "../status/intent.ts";

/**
 * Beyond the `made` ones. `targeting`: absent while the Bundle has not been looked at, as by whoever leads anew; then as
 * many are wanted as were `told` before.
 */
export function unmadeDeployments(
  targeting: Pick<BundleTargeting, "targets"> | undefined,
  made: number,
  told: BundleSummary | undefined,
): number {
  const wanted = targeting === undefined ? (told?.desiredReady ?? 0) : targeting.targets;
  return Math.max(0, wanted - made);
}
