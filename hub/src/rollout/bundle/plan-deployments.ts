/** Plans which BundleDeployments of a Bundle are created, changed and deleted, from its rollout. Pure. */
import {
  apiVersion,
  type Bundle,
  type BundleDeployment,
  type Cluster,
  type Promotion,
} from "@flotilla/shared/api";
import {
  bundleDeploymentFinalizer,
  clusterLabel,
  clusterNamespaceLabel,
  clusterUidLabel,
  managedLabel,
} from "@flotilla/shared/api/names";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { addUsed, formatUsed, parseUsed } from "@flotilla/shared/referenced";
import { clusterKeyOf, isForCluster } from "../../base/index.ts";
import { bundleLabels, type DeploymentSigner, isLimitReason } from "../../rules/index.ts";
import { type RequestFields, requestedOf } from "../stages/requested.ts";
import { deploymentsByNamespace, existingFor } from "./existing-deployment.ts";
import { isPaused, pauseFields } from "./pauses.ts";
import type { Placement } from "./place.ts";
import type { RolloutStep } from "./plan-rollout.ts";

export interface DeploymentPlan {
  readonly create: readonly BundleDeployment[];
  readonly replace: readonly BundleDeployment[];
  readonly remove: readonly BundleDeployment[];
  /** The clusters that something waits for until a window of theirs opens: a content, a retry or a removal. */
  readonly offSchedule: readonly ObjectKey[];
  /** Names that wait until an earlier deployment of the same name is deleted. */
  readonly waiting: number;
}

type Labels = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

export interface DeploymentPlanOptions {
  readonly signer: Pick<DeploymentSigner, "isSignedFor" | "signed">;
  /** Whether the cluster of a deployment has Schedules and none of them is active. */
  readonly isOffSchedule: (deployment: BundleDeployment) => boolean;
  /** Whether a deployment stays as it is though nothing targets its cluster now. */
  readonly isKept?: (deployment: BundleDeployment) => boolean;
}

/** `existing`: every BundleDeployment that was made for this Bundle, also those that are being deleted. */
export function planDeployments(
  bundle: Bundle,
  rollout: readonly RolloutStep[],
  existing: readonly BundleDeployment[],
  { signer, isOffSchedule, isKept = () => false }: DeploymentPlanOptions,
): DeploymentPlan {
  const byNamespace = deploymentsByNamespace(existing);
  const common = bundleLabels(bundle);
  const create: BundleDeployment[] = [];
  const replace: BundleDeployment[] = [];
  const outlived: BundleDeployment[] = [];
  const offSchedule: ObjectKey[] = [];
  let waiting = 0;

  for (const step of rollout) {
    const { placement } = step;
    const current = existingFor(placement, byNamespace);
    byNamespace.delete(current?.metadata.namespace);
    if (step.hold === "offSchedule" && isBehind(current, placement))
      offSchedule.push(keyOf(placement.cluster));
    if (current === undefined) {
      // Created when the namespace exists. An existing one stays, even when a restored Cluster has no status.
      if (placement.cluster.status?.namespace !== undefined && isCreatedWhile(step.hold))
        create.push(signer.signed(newDeployment(bundle, step, common), bundle.metadata.uid));
    } else if (current.metadata.deletionTimestamp !== undefined) waiting += 1;
    else if (!isForCluster(current, placement.cluster.metadata.uid)) {
      outlived.push(current);
      waiting += 1;
    } else {
      const desired = updated(current, bundle, step, { common, signer });
      if (desired !== current) replace.push(desired);
    }
  }
  // Clusters that a suspended Bundle does not target any more keep what is deployed until it is resumed.
  const untargeted = (bundle.spec.suspend === true ? [] : [...byNamespace.values()]).filter(
    (each) => isPresent(each) && !isKept(each),
  );
  const remove = untargeted.filter((each) => !isOffSchedule(each));
  const deferred = untargeted.filter((each) => !remove.includes(each));
  return {
    create,
    replace,
    remove: [...outlived, ...remove],
    offSchedule: [...offSchedule, ...deferred.map(clusterKeyOf)],
    waiting,
  };
}

function isPresent({ metadata }: BundleDeployment): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** A pause creates what it holds, empty; a rollout creates nothing before its turn. */
function isCreatedWhile(hold: RolloutStep["hold"]): boolean {
  return hold !== "staged" && !isLimitReason(hold);
}

function newDeployment(bundle: Bundle, step: RolloutStep, common: Labels): BundleDeployment {
  const { placement } = step;
  return {
    apiVersion,
    kind: "BundleDeployment",
    metadata: {
      name: placement.name,
      namespace: placement.namespace,
      labels: labelsFor(common, placement.cluster),
      finalizers: [bundleDeploymentFinalizer],
    },
    spec: specFor(bundle, step),
  };
}

function updated(
  current: BundleDeployment,
  bundle: Bundle,
  step: RolloutStep,
  {
    common,
    signer,
  }: { readonly common: Labels; readonly signer: Pick<DeploymentSigner, "isSignedFor" | "signed"> },
): BundleDeployment {
  const { placement } = step;
  const labels = labelsFor(common, placement.cluster);
  const spec = specFor(bundle, step, current);
  const { uid } = bundle.metadata;
  const isSigned = signer.isSignedFor(current, uid);
  // The content of one that is held is what the current one says, which counts only with a signature.
  const isOurs =
    isSigned || (step.hold !== "staged" && spec.deploymentID === placement.deploymentId);
  if (
    (isSigned || !isOurs) &&
    isSame(current.spec, spec) &&
    isSame(current.metadata.labels ?? {}, labels)
  )
    return current;
  const desired = { ...current, metadata: { ...current.metadata, labels }, spec };
  return isOurs ? signer.signed(desired, uid) : desired;
}

/** What is held is still staged, and not promoted; where no partition takes the cluster, what is staged stays, too. */
function specFor(
  bundle: Bundle,
  { placement, hold, holdsForce = false, isOffSchedule, promotion }: RolloutStep,
  existing?: BundleDeployment,
): BundleDeployment["spec"] {
  const current = existing?.spec;
  const isForceHeld = hold === "offSchedule" || holdsForce;
  if (hold === "staged" && existing !== undefined)
    return keptSpec(bundle, placement, { existing, isForceHeld, isOffSchedule });
  const isKept = hold === "unassigned" && current !== undefined;
  const staged = isKept ? current.stagedDeploymentID : placement.deploymentId;
  const promoted = hold === undefined ? placement.deploymentId : (current?.deploymentID ?? "");
  const isOff = hold === "offSchedule" || isOffSchedule === true;
  // The content that still runs keeps its referenced objects.
  const outgoing = promoted === placement.deploymentId ? [] : (current?.referencedObjects ?? []);
  const incoming = isKept ? [] : placement.referencedObjects;
  const used = [incoming, outgoing].flatMap((each) => [...parseUsed(each)]);
  const referencedObjects = formatUsed(addUsed(used));
  return {
    deploymentID: promoted,
    stagedDeploymentID: staged,
    ...(promotion !== undefined && { promotion }),
    ...pauseFieldsOf(bundle, placement),
    ...(isOff &&
      promoted === current?.deploymentID &&
      isInFlight(existing) && { offSchedule: true }),
    ...permittedRequest(requestedOf(bundle), isForceHeld, existing),
    ...(referencedObjects.length > 0 && { referencedObjects }),
  };
}

function pauseFieldsOf(bundle: Bundle, { cluster, isSuspended }: Placement) {
  return pauseFields(bundle, { isSuspended, isClusterPaused: isPaused(cluster) });
}

function isBehind(deployment: BundleDeployment | undefined, placement: Placement): boolean {
  return deployment?.spec.deploymentID !== placement.deploymentId || isInFlight(deployment);
}

/** Its content was promoted and has not been applied: what Helm is doing ends by itself, and nothing is tried again. */
function isInFlight(deployment: BundleDeployment | undefined): boolean {
  const promoted = deployment?.spec.deploymentID ?? "";
  return promoted !== "" && deployment?.status?.appliedDeploymentID !== promoted;
}

/**
 * Off schedule, and before its turn in a staged rollout, Helm does not upgrade on request either; the request is sent when that is over.
 * One that was sent before and that its agent has not answered is withdrawn until then: the agent may have been offline, or paused.
 */
function permittedRequest(
  request: RequestFields,
  isForceHeld: boolean,
  existing: BundleDeployment | undefined,
): RequestFields {
  if (!isForceHeld || request.forceAt === undefined) return request;
  const { requestedAt, forceAt, resetAt, correctDriftAt }: RequestFields = existing?.spec ?? {};
  if (forceAt !== undefined && existing?.status?.lastRequest?.token !== forceAt) return {};
  return {
    ...(requestedAt !== undefined && { requestedAt }),
    ...(forceAt !== undefined && { forceAt }),
    ...(resetAt !== undefined && { resetAt }),
    ...(correctDriftAt !== undefined && { correctDriftAt }),
  };
}

/** Contents and promotion stay; a pause and requests concern what is deployed. */
function keptSpec(
  bundle: Bundle,
  placement: Placement,
  {
    existing,
    isForceHeld,
    isOffSchedule = existing.spec.offSchedule === true,
  }: {
    readonly existing: BundleDeployment;
    readonly isForceHeld: boolean;
    readonly isOffSchedule: boolean | undefined;
  },
): BundleDeployment["spec"] {
  const { deploymentID, stagedDeploymentID, promotion, referencedObjects } = existing.spec;
  return {
    deploymentID,
    stagedDeploymentID,
    ...(promotion !== undefined && { promotion }),
    ...pauseFieldsOf(bundle, placement),
    ...(isOffSchedule && isInFlight(existing) && { offSchedule: true }),
    ...permittedRequest(requestedOf(bundle), isForceHeld, existing),
    ...((referencedObjects ?? []).length > 0 && { referencedObjects }),
  };
}

/**
 * A deployment of a Bundle that may promote nothing, suspended with the Bundle and paused with the Bundle or its cluster; undefined
 * when it is so already. A target that is suspended stays so.
 */
export function heldDeployment(
  bundle: Bundle,
  deployment: BundleDeployment,
  isClusterPaused: boolean,
): BundleDeployment | undefined {
  if (deployment.metadata.deletionTimestamp !== undefined) return undefined;
  const { paused: _, ...others } = deployment.spec;
  const spec = {
    ...others,
    ...pauseFields(bundle, { isSuspended: bundle.spec.suspend === true, isClusterPaused }),
  };
  return isSame(deployment.spec, spec) ? undefined : { ...deployment, spec };
}

/**
 * A deployment of a Bundle that may promote nothing, held off schedule while what was promoted is not applied; undefined when it is so
 * already. One of a staged rollout is let go on by that alone, which knows the windows of its stage.
 */
export function scheduledDeployment(
  deployment: BundleDeployment,
  isOffSchedule: boolean,
): BundleDeployment | undefined {
  if (deployment.metadata.deletionTimestamp !== undefined) return undefined;
  const { offSchedule: _, ...others } = deployment.spec;
  const isStaged = deployment.spec.promotion !== undefined && deployment.spec.offSchedule === true;
  const isHeld = isStaged || (isOffSchedule && isInFlight(deployment));
  const spec = { ...others, ...(isHeld && { offSchedule: true }) };
  return isSame(deployment.spec, spec) ? undefined : { ...deployment, spec };
}

/** Sorted, each once. */
function labelsFor(common: Labels, cluster: Cluster): Record<string, string> {
  return {
    ...common,
    [managedLabel]: "true",
    [clusterLabel]: cluster.metadata.name,
    [clusterNamespaceLabel]: cluster.metadata.namespace ?? "",
    ...(cluster.metadata.uid !== undefined && { [clusterUidLabel]: cluster.metadata.uid }),
  };
}

/**
 * Whether both have the same fields, with the same texts, flags, lists of texts and promotions. A change of one cluster compares the
 * deployments of all, and a deep comparison costs ten times as much.
 */
function isSame(a: Fields, b: Fields): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => isSameValue(a[name], b[name]))
  );
}

function isSameValue(a: unknown, b: unknown): boolean {
  if (isPromotion(a) && isPromotion(b)) return isSame({ ...a }, { ...b });
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

/** The one field with fields of its own. */
function isPromotion(value: unknown): value is Promotion {
  return typeof value === "object" && value !== null && "rollout" in value;
}
