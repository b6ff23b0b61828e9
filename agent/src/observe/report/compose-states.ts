/** The state of a deployment, from the states of its releases. Pure. */
import type { DeploymentState, DriftInfo, RequestResult } from "@flotilla/proto";
import { listNames } from "@flotilla/shared/text";
import type { Assignment, ReleaseAssignment } from "../../state/index.ts";
import { maxEvents } from "../drift/drift-history.ts";
import { maxListed, maxUnready } from "../readiness/readiness.ts";
import { maxDrifted } from "./reported-drift.ts";

/** What is reported of one release of a deployment. */
export interface ReportedRelease {
  readonly release: Pick<ReleaseAssignment, "owner" | "deploymentId" | "withdrawing">;
  readonly state: DeploymentState;
}

/**
 * With one release, the deployment has its state. With several, the lists have the limits of one release, and what is true
 * of each alone is left out: the release, its revisions and conditions, its chart. `states`: at least one, in a stable order.
 */
export function composeStates(
  deployment: Pick<Assignment, "owner" | "deploymentId" | "withdrawing">,
  states: readonly ReportedRelease[],
): DeploymentState | undefined {
  const [first, ...others] = states;
  if (first === undefined) return undefined;
  const deploymentId = contentOf(deployment, states);
  if (others.length === 0) return { ...first.state, deploymentId };
  const { name, uid } = deployment.owner;
  const worst = states.reduce((a, b) => (rankOf(b) < rankOf(a) ? b : a));
  const all = states.map(({ state }) => state);
  const { phase, code, retryAt, cause } = worst.state;
  const drift = composeDrift(all.flatMap((state) => state.drift ?? []));
  const request = composeRequests(states);
  // All of them have the deployment's.
  const refusedAt = all.map((state) => state.refusedAt).find((each) => each !== undefined);
  const waitsFor = [...new Set(all.flatMap((state) => state.waitsFor ?? []))];
  const objects = composeObjects(all);
  return {
    ...objects,
    name,
    uid,
    deploymentId,
    phase: deployment.withdrawing ? phase : phaseWhileDesired(worst.state),
    message: messageOf(states),
    ready: all.every(({ ready }) => ready),
    ...(retryAt !== undefined && { retryAt }),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause }),
    ...composeFailures(all),
    ...(all.every(({ notInstalled }) => notInstalled === true) && { notInstalled: true as const }),
    ...(drift !== undefined && { drift }),
    ...(request !== undefined && { request }),
    ...(refusedAt !== undefined && { refusedAt }),
    ...(waitsFor.length > 0 && { waitsFor }),
  };
}

/**
 * The lower the more it says about the deployment: a release that has failed before one that waits, and both before one that is not
 * ready.
 */
function rankOf({ state: { phase, code, ready } }: ReportedRelease): number {
  if (code !== undefined) return 0;
  if (phase === "deployed") return ready ? 4 : 3;
  return { failed: 0, withdrawing: 1, pending: 2 }[phase];
}

/** One that is removed from its deployment is uninstalled while the deployment stays. */
function phaseWhileDesired({ phase, code }: DeploymentState): DeploymentState["phase"] {
  if (phase !== "withdrawing") return phase;
  return code === undefined ? "pending" : "failed";
}

/** The deployment's own once each release is about its desired content; until then another one. */
function contentOf(
  { deploymentId }: Pick<Assignment, "deploymentId">,
  states: readonly ReportedRelease[],
): string {
  const other = states.find(({ release, state }) => state.deploymentId !== release.deploymentId);
  return other?.state.deploymentId ?? deploymentId;
}

/** The message of those that have something to say, the worst first. */
function messageOf(states: readonly ReportedRelease[]): string {
  const said = states.filter(({ state }) => state.message !== "");
  const sorted = said.toSorted((a, b) => rankOf(a) - rankOf(b));
  return listNames(sorted.map(({ release, state }) => `${release.owner.id}: ${state.message}`));
}

function composeObjects(
  states: readonly DeploymentState[],
): Pick<DeploymentState, "notReady" | "resources" | "incomplete" | "counts"> {
  const notReady = states.flatMap((state) => state.notReady);
  const resources = states.flatMap((state) => state.resources);
  const isCut = notReady.length > maxUnready || resources.length > maxListed;
  return {
    notReady: notReady.slice(0, maxUnready),
    resources: resources.slice(0, maxListed),
    incomplete: isCut || states.some(({ incomplete }) => incomplete),
    counts: {
      desiredReady: sum(states, ({ counts }) => counts.desiredReady),
      ready: sum(states, ({ counts }) => counts.ready),
      notReady: sum(states, ({ counts }) => counts.notReady),
      missing: sum(states, ({ counts }) => counts.missing),
      unknown: sum(states, ({ counts }) => counts.unknown),
    },
  };
}

function composeFailures(
  states: readonly DeploymentState[],
): Pick<DeploymentState, "failures" | "failuresBy"> {
  const install = sum(states, ({ failuresBy }) => failuresBy?.install ?? 0);
  const upgrade = sum(states, ({ failuresBy }) => failuresBy?.upgrade ?? 0);
  const failures = install + upgrade;
  return failures === 0 ? {} : { failures, failuresBy: { install, upgrade } };
}

function composeDrift(found: readonly DriftInfo[]): DriftInfo | undefined {
  if (found.length === 0) return undefined;
  const drifted = found.filter(({ count }) => count > 0);
  const isWarning = drifted.length > 0 && drifted.every((each) => each.isWarning === true);
  return {
    objects: drifted.flatMap(({ objects }) => objects).slice(0, maxDrifted),
    count: sum(drifted, ({ count }) => count),
    ...(isWarning && { isWarning: true as const }),
    history: found
      .flatMap(({ history }) => history)
      .toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time))
      .slice(0, maxEvents),
  };
}

/** Once all releases have answered the same request: the answer that says most of what is left to do. */
function composeRequests(states: readonly ReportedRelease[]): RequestResult | undefined {
  const asked = states.filter(({ release }) => !release.withdrawing);
  const answered = asked.flatMap(({ state }) => state.request ?? []);
  const [first] = answered;
  const isSame = answered.every(({ token }) => token === first?.token);
  if (answered.length < asked.length || !isSame) return undefined;
  return answered.toSorted((a, b) => weightOf(b) - weightOf(a))[0];
}

/** The results of a request by what they leave to be done, the least first. */
const answers = [
  ...["InSync", "NotCompared", "Installed", "Upgraded", "DriftCorrected", "DriftLeft"],
  ...["CorrectionFailed", "Blocked", "Failed"],
];

function weightOf({ result }: RequestResult): number {
  return answers.indexOf(result);
}

function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}
