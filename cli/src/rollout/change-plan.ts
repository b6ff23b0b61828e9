/**
 * What a command changes of a rollout, and what it says about it before it asks. The engine of the hub decides what follows; a command
 * that would have no effect in the phase that the rollout is in is refused, with what to do instead. Pure.
 */
import { type BundleRollout, type BundleRolloutSpec, maxNamed } from "@flotilla/shared/api/rollout";
import type { AppRef } from "./find-rollouts.ts";
import {
  clusters,
  countsOf,
  failedNames,
  haltText,
  have,
  type PromotedClusters,
  rollbackText,
  rolloutText,
  stageNamed,
} from "./rollout-words.ts";

export type RolloutChange =
  | { readonly kind: "halt" | "cancel" | "rollback" | "supersede" | "retry" }
  /** `token`: a value that `spec.resume` and the annotation of a request have not had. */
  | { readonly kind: "resume" | "retry-failed"; readonly token: string }
  /** `namespace/name`. */
  | { readonly kind: "skip-cluster"; readonly cluster: string }
  | { readonly kind: "skip-stage"; readonly stage: string };

export interface ChangeFacts {
  readonly app: AppRef;
  /** The newest one of the app. */
  readonly rollout: BundleRollout;
  /** Absent: the deployments were not read, or may not be. */
  readonly promoted?: PromotedClusters | undefined;
}

/** Fields of `spec` that people write. */
export type SpecPatch = Partial<
  Pick<BundleRolloutSpec, "state" | "skip" | "skipStages" | "resume">
>;

export type ChangePlan =
  | {
      readonly kind: "change";
      /** What will happen, in numbers. */
      readonly says: string;
      /** Absent: nothing of its spec. */
      readonly patch?: SpecPatch;
      /** The BundleRollout is deleted. */
      readonly deletes: boolean;
      /** The agents are asked to try again what has no retries left. */
      readonly requestsRetry: boolean;
    }
  /** It is so already. */
  | { readonly kind: "nothing"; readonly says: string }
  /** `says`: why, and what to do instead. */
  | { readonly kind: "refused"; readonly says: string };

/** The limit of `spec.skip` in the definition. */
const maxSkipped = 500;

export function planChange(change: RolloutChange, facts: ChangeFacts): ChangePlan {
  const { status } = facts.rollout;
  const what = rolloutText(facts.rollout);
  if (status === undefined)
    return refused(`${what} was created, and the hub has made no step of it yet: try again`);
  switch (change.kind) {
    case "halt":
      return planHalt(facts);
    case "resume":
      return planResume(facts, change.token);
    case "cancel":
      return planCancel(facts);
    case "supersede":
      return planSupersede(facts);
    case "rollback":
      return planRollback(facts);
    case "retry":
      return planRetry(facts);
    case "retry-failed":
      return planRetryFailed(facts, change.token);
    case "skip-cluster":
      return planSkipCluster(facts, change.cluster);
    case "skip-stage":
      return planSkipStage(facts, change.stage);
  }
}

type Phase = NonNullable<BundleRollout["status"]>["phase"];

function phaseOf({ rollout }: ChangeFacts): Phase {
  return rollout.status?.phase ?? "Progressing";
}

function stateOf({ rollout }: ChangeFacts): NonNullable<BundleRolloutSpec["state"]> {
  return rollout.spec.state ?? "Running";
}

/** Nothing follows from its spec any more. */
function isOver(phase: Phase): boolean {
  return phase === "Superseded" || phase === "Cancelled" || phase === "RolledBack";
}

function planHalt(facts: ChangeFacts): ChangePlan {
  const { rollout } = facts;
  const [what, phase] = [rolloutText(rollout), phaseOf(facts)];
  if (stateOf(facts) === "Halted") return nothing(`${what} is halted already`);
  if (isOver(phase)) return refused(overText(facts));
  if (phase === "Completed")
    return refused(`${what} is completed, so that nothing is left to halt`);
  if (phase === "RollingBack")
    return patch(
      `halts the way back of ${what}: what is in flight ends by itself, and no other cluster gets back what it had until it is resumed`,
      { state: "Halted" },
    );
  return patch(haltText(rollout), { state: "Halted" });
}

function planResume(facts: ChangeFacts, token: string): ChangePlan {
  const { rollout } = facts;
  const [what, phase, state] = [rolloutText(rollout), phaseOf(facts), stateOf(facts)];
  const breach = phase === "Halted" ? rollout.status?.breach : undefined;
  if (isOver(phase)) return refused(overText(facts));
  if (phase === "RollingBack" && state === "Halted")
    return patch(`resumes the way back of ${what}`, { state: "RolledBack" });
  if (phase !== "Halted" && state !== "Halted") return nothing(`${what} is not halted`);
  const { failed, left } = countsOf(rollout);
  const accepted =
    breach === undefined || failed === 0
      ? ""
      : `; ${failed} failed ${failed === 1 ? "cluster is" : "clusters are"} accepted, and ${failed === 1 ? "does" : "do"} not count against maxFailures again`;
  const asked =
    breach?.gate === undefined
      ? ""
      : `; the gate ${breach.gate} of stage ${breach.stage} is asked for again`;
  return patch(
    `resumes ${what}: ${left} of ${clusters(countsOf(rollout).total)} are left${accepted}${asked}`,
    {
      ...(state !== "Running" && { state: "Running" }),
      ...(breach !== undefined && { resume: token }),
    },
  );
}

function planCancel(facts: ChangeFacts): ChangePlan {
  const { rollout } = facts;
  const [what, phase] = [rolloutText(rollout), phaseOf(facts)];
  if (phase === "Cancelled") return nothing(`${what} is cancelled already`);
  if (isOver(phase)) return refused(overText(facts));
  if (phase === "Completed")
    return refused(`${what} is completed, so that nothing is left to cancel`);
  if (phase === "RollingBack")
    return refused(
      `${what} is taken back, and cannot be cancelled: halt it, or wait until it is over`,
    );
  const { next } = rollout.status ?? {};
  const follows = next === undefined ? "" : `; ${nextText(next)} starts`;
  return patch(`ends ${what}: ${keptText(rollout)}${follows}`, { state: "Cancelled" });
}

function planSupersede(facts: ChangeFacts): ChangePlan {
  const { rollout } = facts;
  const [what, phase] = [rolloutText(rollout), phaseOf(facts)];
  if (isOver(phase)) return refused(overText(facts));
  const { next } = rollout.status ?? {};
  if (next === undefined)
    return refused(
      `no newer revision waits for the end of ${what}: one that is published starts by itself when this one is completed or halted`,
    );
  if (phase === "RollingBack")
    return refused(`${what} is taken back: ${nextText(next)} starts when that is over`);
  return patch(
    `ends ${what} and starts ${nextText(next)}, which waits since ${next.since}: ${keptText(rollout)} until that reaches them`,
    {
      state: "Cancelled",
    },
  );
}

function planRollback(facts: ChangeFacts): ChangePlan {
  const { rollout, promoted } = facts;
  const [what, phase] = [rolloutText(rollout), phaseOf(facts)];
  if (phase === "RollingBack" && stateOf(facts) === "Halted")
    return refused(`the way back of ${what} is halted: resume it`);
  if (phase === "RollingBack" || phase === "RolledBack")
    return nothing(`${what} is ${phase === "RolledBack" ? "" : "being "}taken back already`);
  if (isOver(phase))
    return refused(
      `${overText(facts)}, or set the version of the app to the one that clusters are to have`,
    );
  return patch(rollbackText(rollout, promoted), { state: "RolledBack" });
}

function planRetry(facts: ChangeFacts): ChangePlan {
  const { rollout } = facts;
  const [what, phase] = [rolloutText(rollout), phaseOf(facts)];
  if (phase === "Completed")
    return refused(
      `${what} is completed, and would be completed again at once: to run Helm again use \`flotilla reconcile --force\`, and for failed clusters --failed`,
    );
  if (phase === "RollingBack")
    return refused(`${what} is taken back: wait until that is over, or halt it`);
  const { promoted, total } = countsOf(rollout);
  const has =
    promoted === 0
      ? "no cluster has it"
      : `${promoted} of ${clusters(total)} ${have(promoted)} it, ${promoted === 1 ? "keeps" : "keep"} it, and a later rollback does not take it from ${promoted === 1 ? "it" : "them"}`;
  return {
    kind: "change",
    says: `deletes ${what}, so that what is desired now starts from the first stage, with its gates: ${has}`,
    deletes: true,
    requestsRetry: false,
  };
}

function planRetryFailed(facts: ChangeFacts, token: string): ChangePlan {
  const { rollout } = facts;
  const [what, phase, state] = [rolloutText(rollout), phaseOf(facts), stateOf(facts)];
  if (isOver(phase)) return refused(overText(facts));
  if (phase === "RollingBack")
    return refused(`${what} is taken back: its failed clusters get back what they had`);
  const { failed } = countsOf(rollout);
  if (failed === 0) return nothing(`no cluster of ${what} has failed`);
  const resumes = phase === "Halted" && rollout.status?.breach !== undefined;
  const isHeld = state === "Halted";
  const names = failedNames(rollout);
  const more = failed > names.length ? " and others" : "";
  const follows = resumes
    ? isHeld
      ? "; it stays halted until it is resumed"
      : `; resumes it: ${failed === 1 ? "it does" : "they do"} not count against maxFailures again`
    : "";
  return {
    kind: "change",
    says: `asks the agents of ${failed} failed ${failed === 1 ? "cluster" : "clusters"} of ${what} to try again (${names.join(", ")}${more})${follows}`,
    ...(resumes && !isHeld && { patch: { resume: token } }),
    deletes: false,
    requestsRetry: true,
  };
}

function planSkipCluster(facts: ChangeFacts, cluster: string): ChangePlan {
  const { rollout } = facts;
  const what = rolloutText(rollout);
  if (isOver(phaseOf(facts))) return refused(overText(facts));
  const before = rollout.spec.skip ?? [];
  if (before.includes(cluster)) return nothing(`${what} skips ${cluster} already`);
  if (before.length >= maxSkipped)
    return refused(
      `${what} skips ${before.length} clusters, which is the limit: pass over a stage, or change the criteria of the targets`,
    );
  return patch(
    `skips ${cluster} in ${what}: it keeps what it has, and its stage does not wait for it; ${before.length + 1} of at most ${maxSkipped} are skipped`,
    { skip: [...before, cluster] },
  );
}

function planSkipStage(facts: ChangeFacts, name: string): ChangePlan {
  const { rollout } = facts;
  const what = rolloutText(rollout);
  if (isOver(phaseOf(facts))) return refused(overText(facts));
  const stage = stageNamed(rollout, name);
  if (stage === undefined) {
    const names = (rollout.status?.stages ?? []).map((each) => each.name).slice(0, maxNamed);
    return refused(`${what} has no stage ${name}: its stages are ${names.join(", ")}`);
  }
  const before = rollout.spec.skipStages ?? [];
  if (before.includes(name)) return nothing(`${what} passes over stage ${name} already`);
  if (stage.phase === "Completed") return nothing(`stage ${name} of ${what} is completed already`);
  const promoted = stage.done + stage.inFlight + stage.failed;
  const left = stage.total - promoted;
  const has =
    promoted === 0
      ? ""
      : `, and ${promoted} that ${have(promoted)} it already ${promoted === 1 ? "keeps" : "keep"} it`;
  return patch(
    `passes over stage ${name} of ${what} with its gates: ${left} of its ${clusters(stage.total)} ${left === 1 ? "is" : "are"} not promoted${has}`,
    { skipStages: [...before, name] },
  );
}

function overText(facts: ChangeFacts): string {
  const retry = `\`flotilla rollout retry ${facts.app.kind.toLowerCase()}/${facts.app.name}\``;
  return `${rolloutText(facts.rollout)} is ${phaseWord(phaseOf(facts))}, and nothing of it changes any more: start the revision again with ${retry}`;
}

function phaseWord(phase: Phase): string {
  if (phase === "RolledBack") return "taken back";
  return phase.toLowerCase();
}

function keptText(rollout: BundleRollout): string {
  const { total, promoted } = countsOf(rollout);
  return `${promoted} of ${clusters(total)} ${have(promoted)} it, and all keep what they have`;
}

function nextText({ version }: { readonly version?: string | undefined }): string {
  return version === undefined ? "the newer revision" : `version ${version}`;
}

function patch(says: string, spec: SpecPatch): ChangePlan {
  return { kind: "change", says, patch: spec, deletes: false, requestsRetry: false };
}

function nothing(says: string): ChangePlan {
  return { kind: "nothing", says };
}

function refused(says: string): ChangePlan {
  return { kind: "refused", says };
}
