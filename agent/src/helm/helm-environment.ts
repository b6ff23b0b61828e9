/** All of the environment that Helm runs in. Pure. */
import type { AgentConfig } from "../config.ts";

export function helmEnvironment(
  { helmEnvironment: passedOn, kubeconfig, context }: AgentConfig,
  home: string,
): Readonly<Record<string, string>> {
  return {
    // Helm lives for a fraction of a second: collecting garbage meanwhile costs more than it gives back.
    GOGC: "400",
    GOMEMLIMIT: "400MiB",
    ...passedOn,
    HOME: home,
    ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }),
    ...(context !== undefined && { HELM_KUBECONTEXT: context }),
  };
}
