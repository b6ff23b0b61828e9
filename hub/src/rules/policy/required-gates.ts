/**
 * The gates that Policies require before clusters: which clusters are protected, and whether a strategy has an approval before each of
 * them. Pure. It is judged by the clusters that there are and the stage that takes each: no list of stages says by itself which
 * labels a cluster may have. What is promoted is compared once more, with the approvals that are stored.
 */
import { type RolloutStage, type RolloutStrategy, selects } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { refOf } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";
import { isStaged, type StageAssignment, type StagedCluster, stagesOf } from "../rollout/stages.ts";
import { selectorText } from "../targeting/explain.ts";
import { selectorProblem } from "../targeting/selector-problem.ts";
import type { MergedPolicy, PolicyGate } from "./merge-policies.ts";

/** What a strategy does with the clusters of an app. */
export interface ReachedClusters {
  readonly strategy: RolloutStrategy | null | undefined;
  readonly clusters: readonly StagedCluster[];
  /** Clusters without a stage are not promoted. Not asked for where the strategy has no stages. */
  readonly assignment: StageAssignment;
  /** The namespace of the app: its own Policies are named without it. */
  readonly namespace: string;
}

/** Whether a Policy requires a gate before any cluster at all: most do not, and nothing has to be compared. */
export function requiresGates(policies: readonly MergedPolicy[]): boolean {
  return policies.some(({ requiredGates }) => requiredGates.length > 0);
}

/**
 * Whether a cluster gets nothing that nobody approved. `namespace`: the app's. A selector that cannot be used protects every
 * cluster.
 */
export function isProtected(
  policies: readonly MergedPolicy[],
  cluster: Pick<StagedCluster, "key" | "labels">,
  namespace: string,
): boolean {
  return policies.some(
    (policy) =>
      isAbout(policy, cluster, namespace) &&
      policy.requiredGates.some((gate) => covers(gate, cluster.labels)),
  );
}

/** What a strategy lacks. */
export interface RequiredGateViolation {
  readonly error: AppError;
  /** The namespace of the Policies that require it. */
  readonly namespace: string;
}

/** The first violation, in the order of the Policies; undefined: each protected cluster has an approval before it. */
export function requiredGateViolation(
  policies: readonly MergedPolicy[],
  reached: ReachedClusters,
): RequiredGateViolation | undefined {
  for (const policy of policies) {
    const clusters = reached.clusters.filter((each) => isAbout(policy, each, reached.namespace));
    for (const gate of policy.requiredGates) {
      const error = violationOf(gate, policy.namespace, { ...reached, clusters });
      if (error !== undefined) return { error, namespace: policy.namespace };
    }
  }
  return undefined;
}

/** A Policy is about all clusters of the apps of its namespace, and about the clusters of its namespace, whatever app reaches them. */
function isAbout(
  policy: Pick<MergedPolicy, "namespace">,
  { key }: Pick<StagedCluster, "key">,
  namespace: string,
): boolean {
  return policy.namespace === namespace || policy.namespace === refOf(key).namespace;
}

function violationOf(
  gate: PolicyGate,
  namespace: string,
  reached: ReachedClusters,
): AppError | undefined {
  const { strategy, assignment } = reached;
  const clusters = reached.clusters.filter(({ labels }) => covers(gate, labels));
  const [first] = clusters;
  if (first === undefined) return undefined;
  const problem = gateProblem(gate);
  const name = namespace === reached.namespace ? gate.policy : `${namespace}/${gate.policy}`;
  if (problem !== undefined)
    return violation(
      `rollout.requiredGates of Policy ${name} cannot be used, so nothing reaches ${named(clusters)}`,
      problem,
      name,
    );
  const which = selectorPhrase(gate);
  if (!isStaged(strategy) || (strategy.stages ?? []).length === 0)
    return violation(
      `spec.rolloutStrategy has no stages, and reaches ${named(clusters)}`,
      `${which} need an approval before them; add spec.rolloutStrategy.stages with one that takes these clusters and has ${approvalText}`,
      name,
    );
  for (const stage of stagesOf(strategy)) {
    if (hasApproval(stage)) continue;
    const taken = clusters.filter(({ key }) => assignment.get(key) === stage.name);
    if (taken.length > 0)
      return violation(
        `stage ${stage.name} of spec.rolloutStrategy reaches ${named(taken)} without an approval before it`,
        `${which} need one; add ${approvalText} to the stage, or leave these clusters to a stage that has it`,
        name,
      );
  }
  return undefined;
}

const approvalText = "before: [{name: approval, approval: {}}]";

/** An approval after the stage comes too late for its own clusters. */
function hasApproval({ before = [] }: RolloutStage): boolean {
  return before.some(({ approval }) => approval !== undefined);
}

function covers({ clusterSelector }: PolicyGate, labels: StagedCluster["labels"]): boolean {
  if (clusterSelector === undefined || clusterSelector === null) return true;
  return selectorProblem(clusterSelector) !== undefined || selects(clusterSelector, labels);
}

/** What a person has to correct in the Policy. `gate` is any text: the installed definition may be a newer one. */
function gateProblem({ clusterSelector, gate }: PolicyGate): string | undefined {
  const known: string = gate;
  if (known !== "approval")
    return `this version of the hub does not know the gate ${JSON.stringify(known)}; use approval`;
  return clusterSelector === undefined || clusterSelector === null
    ? undefined
    : selectorProblem(clusterSelector);
}

function selectorPhrase({ clusterSelector }: PolicyGate): string {
  const text = selectorText(clusterSelector ?? {});
  return text === "" ? "all clusters" : `clusters with ${text}`;
}

/** As many as a sentence names. */
const mostNamed = 3;

function named(clusters: readonly StagedCluster[]): string {
  const names = clusters.slice(0, mostNamed).map(({ key }) => key);
  const more = clusters.length - names.length;
  return `${clusters.length === 1 ? "cluster" : "clusters"} ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function violation(subject: string, why: string, policy: string): AppError {
  return new AppError(
    hubErrors.POLICY_VIOLATION,
    `${subject}: ${why} (Policy ${policy}); what is deployed stays as it is until this is changed, here or in the Policy`,
  );
}
