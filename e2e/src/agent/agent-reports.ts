/** What an agent reports about a deployment, and which runs of Helm it started for it. */
import type { DeploymentState } from "@flotilla/proto";
import type { InProcessInstaller } from "../harness/in-process-installer.ts";

export function isDeployed(
  name: string,
  chartVersion: string,
): (state: DeploymentState) => boolean {
  return (state) =>
    state.name === name &&
    state.phase === "deployed" &&
    state.release?.chartVersion === chartVersion;
}

export function isReady(name: string, revision: number): (state: DeploymentState) => boolean {
  return (state) => state.name === name && state.ready && state.release?.revision === revision;
}

export function hasCode(name: string, code: string): (state: DeploymentState) => boolean {
  return (state) => state.name === name && state.code === code;
}

/** The runs of Helm for a release. */
export function runsOf(agent: InProcessInstaller, name: string): readonly (readonly string[])[] {
  return agent.helmRuns.filter((args) => args.includes(name));
}
