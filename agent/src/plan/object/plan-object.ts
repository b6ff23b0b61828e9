/** Plans one object of a rendering: what the cluster has, what it would have, and what of that is shown and counted. */
import { messageOf } from "@flotilla/shared/errors";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { PlanRemark } from "@flotilla/shared/plan";
import { type DriftObject, desiredObject } from "../../observe/index.ts";
import { withoutRemoved } from "../change/expected-object.ts";
import { differs, fieldChanges } from "../change/field-changes.ts";
import type { RenderedObject } from "../change/generated.ts";
import type { Masking } from "../change/masking.ts";
import { objectText } from "../change/object-text.ts";
import {
  digestOf,
  type ObjectChange,
  type PlannedAction,
  type PlannedObject,
  shapeOf,
} from "../change/planned-object.ts";
import { type ApplyMethod, type DryRun, dryRunOf } from "./dry-run.ts";

/** What the objects of a plan have in common. */
export interface ReleasePlan {
  readonly rest: KubeRest;
  readonly release: { readonly namespace: string; readonly name: string };
  readonly method: ApplyMethod;
  /** Objects are patched by the client: it removes what the manifest before had. */
  readonly isClientSide: boolean;
  /** The release is uninstalled first. */
  readonly isReinstall: boolean;
  /** What the definitions define that are created before, by `GROUP/KIND`: whether its objects have a namespace. */
  readonly definedKinds: ReadonlyMap<string, boolean>;
  /** Namespaces that are created before, or with the release. */
  readonly createdNamespaces: ReadonlySet<string>;
  readonly masking: Masking;
  readonly withText: boolean;
  /** Texts in names that are the cluster's own. */
  readonly ownTexts: readonly string[];
  readonly signal: AbortSignal;
}

/** An object with its place in the cluster. */
export interface PlacedObject extends RenderedObject {
  readonly object: DriftObject;
  /** A text: the cluster does not have the kind, and why. */
  readonly resource: Resource<KubeObject> | string;
  /** The same object in the manifest before. */
  readonly before?: KubeObject | undefined;
}

/** Throws what prevents the plan as a whole. */
export async function planObject(plan: ReleasePlan, placed: PlacedObject): Promise<PlannedObject> {
  const { object, resource, document } = placed;
  const desired = desiredOf(plan, placed, document);
  if (typeof resource === "string") {
    const [group] = groupOf(object);
    if (!plan.definedKinds.has(`${group}/${object.kind}`))
      return outcome(plan, placed, { action: "fails", why: resource });
    return created(plan, placed, desired, ["NotValidated"]);
  }
  const live = await readLive(plan, resource, object);
  if (typeof live === "string") return outcome(plan, placed, { action: "fails", why: live });
  const applied = live === undefined ? desired : desiredOf(plan, placed, document, live);
  const { rest, method, signal } = plan;
  const withNulls = plan.isClientSide ? applied : desiredOf(plan, placed, document, document);
  const answer = await dryRunOf(
    rest,
    { resource, desired: applied, withNulls, live, method },
    signal,
  );
  switch (answer.kind) {
    case "rejected":
      return outcome(plan, placed, { action: "fails", why: answer.why });
    case "no namespace":
      return withoutNamespace(plan, placed, desired);
    case "replaced":
      return outcome(plan, placed, { action: "replace", live, planned: answer.planned });
    case "accepted":
      if (live === undefined) return created(plan, placed, desired, remarksOf(answer));
      return changed(plan, placed, { live, answer });
  }
}

function changed(
  plan: ReleasePlan,
  placed: PlacedObject,
  { live, answer }: { readonly live: KubeObject; readonly answer: Accepted },
): PlannedObject {
  const { before, document } = placed;
  const removes = before !== undefined && (plan.isClientSide || answer.remark !== undefined);
  const planned = removes
    ? withoutRemoved(
        answer.planned,
        desiredOf(plan, placed, before),
        desiredOf(plan, placed, document),
      )
    : answer.planned;
  const remarks = remarksOf(answer);
  if (plan.isReinstall) return outcome(plan, placed, { action: "replace", live, planned, remarks });
  const action = differs(live, planned) ? "update" : "none";
  return outcome(plan, placed, { action, live, planned, remarks });
}

type Accepted = Extract<DryRun, { kind: "accepted" }>;

function remarksOf({ remark }: Accepted): readonly PlanRemark[] {
  return remark === undefined ? [] : [remark];
}

function created(
  plan: ReleasePlan,
  placed: PlacedObject,
  planned: KubeObject,
  remarks: readonly PlanRemark[],
): PlannedObject {
  return outcome(plan, placed, { action: "create", planned, remarks });
}

function withoutNamespace(
  plan: ReleasePlan,
  placed: PlacedObject,
  desired: KubeObject,
): PlannedObject {
  const { namespace = "" } = placed.object;
  if (plan.createdNamespaces.has(namespace))
    return created(plan, placed, desired, ["NamespaceMissing"]);
  const why = `namespace ${namespace} does not exist`;
  return outcome(plan, placed, { action: "fails", why });
}

interface Outcome {
  readonly action: PlannedAction;
  readonly why?: string;
  readonly live?: KubeObject | undefined;
  readonly planned?: KubeObject;
  readonly remarks?: readonly PlanRemark[];
}

function outcome(
  { masking, withText, ownTexts }: ReleasePlan,
  { object, generated, hasGeneratedName }: PlacedObject,
  { action, why, live, planned, remarks = [] }: Outcome,
): PlannedObject {
  const changes =
    planned === undefined || action === "none"
      ? []
      : live === undefined
        ? [{ pointer: "", before: undefined, after: planned }]
        : fieldChanges(live, planned, generated);
  const said = why === undefined ? undefined : masking.redact(why);
  const change: ObjectChange = { object, action, changes, generated, hasGeneratedName, why: said };
  const isGenerated = action !== "none" && (generated.length > 0 || hasGeneratedName);
  return {
    object,
    action,
    ...(said !== undefined && { why: said }),
    digest: digestOf(change, masking),
    shape: shapeOf(change, ownTexts),
    remarks: [...remarks, ...(isGenerated ? (["Generated"] as const) : [])],
    text: withText
      ? objectText({ object, action, why: said, live, planned, changes, generated }, masking)
      : "",
  };
}

function desiredOf(
  { release }: ReleasePlan,
  { object }: PlacedObject,
  document: KubeObject,
  live?: KubeObject,
): KubeObject {
  return desiredObject(document, object.namespace, release, live);
}

/** A text: the account may not read it. */
export async function readLive<T extends KubeObject>(
  { rest, signal }: Pick<ReleasePlan, "rest" | "signal">,
  resource: Resource<T>,
  { namespace, name }: Pick<DriftObject, "namespace" | "name">,
): Promise<T | undefined | string> {
  const ref = { ...(namespace !== undefined && { namespace }), name };
  try {
    return await rest.get(resource, ref, { signal });
  } catch (thrown) {
    if (isForbidden(thrown)) return messageOf(thrown);
    throw thrown;
  }
}

/** Group and version; the core group is empty. */
export function groupOf({
  apiVersion,
}: Pick<DriftObject, "apiVersion">): readonly [string, string] {
  const [first = "", second] = apiVersion.split("/", 2);
  return second === undefined ? ["", first] : [first, second];
}
