/**
 * Forms that only the hub itself may write, in the origin of a Bundle: an account of any namespace of the cluster, and objects
 * of any namespace of the hub. In options of users they would be an account or a Secret of another tenant. Pure.
 */
import type { BundleDeploymentOptions, BundleTarget } from "@flotilla/shared/api";

type Options = Pick<BundleDeploymentOptions, "serviceAccount" | "downstreamResources">;

export interface UserOptions extends Options {
  readonly targets?: readonly BundleTarget[] | null | undefined;
}

/** The field that has such a form, and what to write; undefined if there is none. `secretName`: with credentials for the chart's source. */
export function reservedFormProblem(
  spec: UserOptions,
  secretName: string | undefined,
): string | undefined {
  const { targets } = spec;
  if (secretName?.includes("/") === true)
    return `spec.helmSecretName is ${secretName}; set the name of a Secret in the namespace of this object, without a namespace`;
  const own = optionsProblem(spec);
  if (own !== undefined) return `spec.${own}`;
  for (const [index, target] of (targets ?? []).entries()) {
    const problem = optionsProblem(target);
    if (problem !== undefined) return `spec.targets[${index}].${problem}`;
  }
  return undefined;
}

function optionsProblem({ serviceAccount, downstreamResources }: Options): string | undefined {
  if (serviceAccount?.includes(":") === true)
    return `serviceAccount is ${serviceAccount}; set the name of an account, or NAMESPACE/NAME where the agents require that`;
  for (const [index, { name }] of (downstreamResources ?? []).entries()) {
    if (name?.includes("/") === true)
      return `downstreamResources[${index}].name is ${name}; set the name of an object in the namespace of this object, without a namespace`;
  }
  return undefined;
}
