/** Words of the events of staged rollouts: revisions, gates, breaches, and the commands that answer them. Pure. */
import type { Breach, BundleRollout, GateRecord } from "@flotilla/shared/api/rollout";

/** Version, or where its targets have several, the revision. */
export function revisionText({ spec }: Pick<BundleRollout, "spec">): string {
  return spec.version === undefined ? "a new revision" : `version ${spec.version}`;
}

export function clusterCount(count: number): string {
  return count === 1 ? "1 cluster" : `${count} clusters`;
}

/** `the approval change-board of stage prod`. */
export function gateText({ name, type }: Pick<GateRecord, "name" | "type">, stage: string): string {
  const what = type === "Approval" ? "approval" : type === "Soak" ? "soak" : "gate";
  return `the ${what} ${name} of stage ${stage}`;
}

/** Without the time of the decision, which the next leader may take again. */
export function breachText({ stage, cause, failed, maxFailures, gate }: Breach): string {
  switch (cause) {
    case "Failures":
      return `${clusterCount(failed)} of stage ${stage} failed, more than the ${maxFailures} that may`;
    case "GateFailed":
      return `the gate ${gate} of stage ${stage} has failed`;
    case "GateUnverified":
      return `the gate ${gate} of stage ${stage} does not count: the API server has not checked who approved`;
    case "GateExpired":
      return `nobody decided the gate ${gate} of stage ${stage} in time`;
    case "NothingReady":
      return `no cluster of stage ${stage} is ready`;
  }
}

/** `flotilla VERB helmop/web MORE -n fleet-default`. */
export function appCommand(
  { spec, metadata }: Pick<BundleRollout, "spec" | "metadata">,
  verb: string,
  more: readonly string[] = [],
): string {
  const { kind, name } = spec.app;
  const app = `${kind.toLowerCase()}/${name}`;
  return ["flotilla", verb, app, ...more, "-n", metadata.namespace ?? ""].join(" ");
}
