/** Remarks for the author of a Cluster: fields of Fleet that have no effect here, because the agent is installed with its chart. Pure. */
import type { Cluster } from "@flotilla/shared/api";
import { listNames } from "@flotilla/shared/text";

const unsupported = [
  "redeployAgentGeneration",
  "agentNamespace",
  "privateRepoURL",
  "agentEnvVars",
  "agentTolerations",
  "agentAffinity",
  "agentResources",
  "agentPullSecrets",
  "hostNetwork",
  "agentSchedulingCustomization",
  "kubeConfigSecret",
  "kubeConfigSecretNamespace",
] as const satisfies readonly (keyof Cluster["spec"])[];

/** "" where no such field is set. Off, empty and absent are the default. */
export function remarkOnCluster({ spec }: Pick<Cluster, "spec">): string {
  const used = unsupported.filter((field) => isUsed(spec[field])).map((field) => `spec.${field}`);
  if (used.length === 0) return "";
  const verb = used.length === 1 ? "has" : "have";
  return `${listNames(used)} ${verb} no effect: the agent is installed with its chart; set its values instead`;
}

function isUsed(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "")
    return false;
  return typeof value === "object" ? Object.values(value).some(isUsed) : true;
}
