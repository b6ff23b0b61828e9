/** The defaults of a Policy for HelmOps. Pure. */
import type { HelmOp } from "@flotilla/shared/api";
import type { MergedPolicy } from "./merge-policies.ts";

/** The HelmOp with the defaults of its Policies. It is never written back; its Bundle is made from it. */
export function withDefaults(policy: MergedPolicy, helmOp: HelmOp): HelmOp {
  const serviceAccount = helmOp.spec.serviceAccount || policy.defaultServiceAccount;
  const helmSecretName = helmOp.spec.helmSecretName || policy.defaultHelmSecretName;
  if (
    serviceAccount === (helmOp.spec.serviceAccount ?? "") &&
    helmSecretName === (helmOp.spec.helmSecretName ?? "")
  )
    return helmOp;
  return {
    ...helmOp,
    spec: {
      ...helmOp.spec,
      ...(serviceAccount !== "" && { serviceAccount }),
      ...(helmSecretName !== "" && { helmSecretName }),
    },
  };
}
