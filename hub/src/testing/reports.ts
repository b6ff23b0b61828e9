/** Reports of agents. */
import type { DeploymentState } from "@flotilla/proto";
import { digestA } from "./objects.ts";

/** The deployment `web` of the cluster `paris`, installed and ready, with the given fields. */
export function deployed(changes: Partial<DeploymentState> = {}): DeploymentState {
  return {
    name: "web",
    uid: "uid-web-paris",
    deploymentId: digestA,
    phase: "deployed",
    message: "",
    ready: true,
    notReady: [],
    resources: [],
    incomplete: false,
    counts: { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 },
    ...changes,
  };
}
