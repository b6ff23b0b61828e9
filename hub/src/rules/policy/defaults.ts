/** The defaults of a Policy for HelmOps. Pure. */
import type { PlannedRelease } from "../frontend/planned-release.ts";
import type { MergedPolicy } from "./merge-policies.ts";

/** The release with the defaults of its Policies; the object itself never gets them. */
export function withDefaults(policy: MergedPolicy, release: PlannedRelease): PlannedRelease {
  const { spec, source } = release;
  const serviceAccount = spec.serviceAccount || policy.defaultServiceAccount;
  const secretName = source.secretName || policy.defaultHelmSecretName;
  if (serviceAccount === (spec.serviceAccount ?? "") && secretName === (source.secretName ?? ""))
    return release;
  return {
    ...release,
    spec: { ...spec, ...(serviceAccount !== "" && { serviceAccount }) },
    source: { ...source, ...(secretName !== "" && { secretName }) },
  };
}
