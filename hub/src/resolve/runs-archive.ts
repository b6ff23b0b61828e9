/** Who runs a chart's archive. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { archiveDigest, type Pin } from "@flotilla/shared/source/pin.ts";

/** Whether one of them has installed this very archive, or may have. */
export function isRunByAny(deployments: readonly BundleDeployment[], pin: Pin): boolean {
  const digest = archiveDigest(pin);
  return digest === undefined || deployments.some(({ status }) => status?.chartDigest === digest);
}
