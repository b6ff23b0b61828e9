/** Compares one object with the desired one by a dry run of a server-side apply as Helm, and corrects it. */
import { messageOf } from "@flotilla/shared/errors";
import {
  isConflict,
  isNotFound,
  type KubeRest,
  KubeStatusError,
} from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { changedObject, foreignFields } from "./compare-objects.ts";
import { withLiveValues } from "./desired-object.ts";
import type { DriftObject, ObjectComparison, ObjectDrift } from "./drift.ts";
import { type IgnoreRule, ignoredPointers } from "./ignore-rules.ts";
import { helmFieldManager } from "./managed-fields.ts";

export interface ComparedObject {
  readonly object: DriftObject;
  readonly resource: Resource<KubeObject>;
  /** As Helm applies it. */
  readonly desired: KubeObject;
  readonly rules: readonly IgnoreRule[];
}

/** An object that changes as often between reading and comparing it is compared at its next change. */
const maxAttempts = 4;

const same: ObjectComparison = { foreign: [] };

/** `rest`: impersonated. Throws the API error if the object cannot be compared. */
export async function compareObject(
  rest: KubeRest,
  compared: ComparedObject,
  signal: AbortSignal,
): Promise<ObjectComparison> {
  return (await observe(rest, compared, { excluded: [], signal })).comparison;
}

interface Observation {
  readonly comparison: ObjectComparison;
  readonly live?: KubeObject | undefined;
  /** What is applied to correct it; ignored fields have their live values. */
  readonly applied: KubeObject;
}

interface ObserveOptions {
  /** JSON pointers that are ignored, too. */
  readonly excluded: readonly string[];
  readonly signal: AbortSignal;
}

async function observe(
  rest: KubeRest,
  { object, resource, desired, rules }: ComparedObject,
  { excluded, signal }: ObserveOptions,
): Promise<Observation> {
  for (let attempt = 1; ; attempt += 1) {
    const live = await rest.get(resource, desired.metadata, { signal });
    const ignored = [...ignoredPointers(rules, desired, live), ...excluded];
    const nothing = { comparison: same, live, applied: desired };
    if (ignored.includes("") || live?.metadata.deletionTimestamp !== undefined) return nothing;
    if (live === undefined) return { ...nothing, comparison: missing(object) };
    const applied = unlessChanged(withLiveValues(desired, live, ignored), live);
    const foreign = foreignFields(object, { live, desired, ignored });
    try {
      const reverted = await apply(rest, resource, applied, { dryRun: true, signal });
      const drift = changedObject({ object, live, reverted, ignored });
      return { comparison: { drift, foreign }, live, applied };
    } catch (thrown) {
      const isRetried = isConflict(thrown) || isNotFound(thrown);
      if (isRetried && attempt < maxAttempts) continue;
      if (!isInvalid(thrown)) throw thrown;
      return { comparison: { drift: rejected(object, thrown), foreign }, live, applied };
    }
  }
}

function missing(object: DriftObject): ObjectComparison {
  return { drift: { object, what: "missing", fields: [] }, foreign: [] };
}

function rejected(object: DriftObject, error: KubeStatusError): ObjectDrift {
  return { object, what: "rejected", fields: [], message: failureText(error) };
}

const causePattern =
  /(?:^|[ [,])([A-Za-z][\w.[\]]*): (?:Invalid|Forbidden|Required|Unsupported|Duplicate|Too long)/;

/** Why the API server rejects a request, without the values that its sentence has: they may be secret. */
export function failureText(thrown: unknown): string {
  if (!isInvalid(thrown)) return messageOf(thrown);
  const [, field] = causePattern.exec(thrown.message) ?? [];
  return `the API server rejects ${field === undefined ? "it as invalid" : `the change of ${field}`}`;
}

function isInvalid(thrown: unknown): thrown is KubeStatusError {
  return thrown instanceof KubeStatusError && thrown.status === 422;
}

function unlessChanged(applied: KubeObject, { metadata }: KubeObject): KubeObject {
  const { resourceVersion } = metadata;
  return resourceVersion === undefined
    ? applied
    : { ...applied, metadata: { ...applied.metadata, resourceVersion } };
}

async function apply(
  rest: KubeRest,
  resource: Resource<KubeObject>,
  body: KubeObject,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<KubeObject> {
  const patch = { type: "apply", body, force: true } as const;
  const options = { dryRun, fieldManager: helmFieldManager, signal };
  return await rest.patch(resource, body.metadata, patch, options);
}

export interface CorrectionOptions extends ObserveOptions {
  /** An object that the API server does not let be changed back is deleted and created again. */
  readonly isForced: boolean;
}

/** Returns the drift that it has corrected; undefined: there is none any more. Throws the API error. */
export async function correctObject(
  rest: KubeRest,
  compared: ComparedObject,
  options: CorrectionOptions,
): Promise<ObjectDrift | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await correctOnce(rest, compared, options);
    } catch (thrown) {
      // It was changed meanwhile.
      if (!isConflict(thrown) || attempt >= maxAttempts) throw thrown;
    }
  }
}

async function correctOnce(
  rest: KubeRest,
  compared: ComparedObject,
  { excluded, isForced, signal }: CorrectionOptions,
): Promise<ObjectDrift | undefined> {
  const { resource, desired } = compared;
  const { comparison, live, applied } = await observe(rest, compared, { excluded, signal });
  const { drift } = comparison;
  if (drift === undefined) return undefined;
  if (drift.what !== "rejected") {
    await apply(rest, resource, applied, { dryRun: false, signal });
    return drift;
  }
  const { uid } = live?.metadata ?? {};
  if (isForced && uid !== undefined) {
    await rest.delete(resource, desired.metadata, { uid, propagation: "Background", signal });
    // With finalizers it stays for a while: it is created when it is gone.
    if ((await rest.get(resource, desired.metadata, { signal })) === undefined)
      await apply(rest, resource, desired, { dryRun: false, signal });
    return drift;
  }
  // The API server says why.
  await apply(rest, resource, applied, { dryRun: false, signal });
  return drift;
}
