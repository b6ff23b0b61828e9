/** Compares one object with the desired one by a dry run of a server-side apply as Helm, and corrects it. */
import { messageOf } from "@flotilla/shared/errors";
import {
  isConflict,
  isNotFound,
  type KubeRest,
  KubeStatusError,
} from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { helmFieldManager } from "../../helm/index.ts";
import { changedObject, foreignFields } from "./compare-objects.ts";
import { deleteObject } from "./delete-object.ts";
import { withLiveValues } from "./desired-object.ts";
import type { DriftObject, ObjectComparison, ObjectDrift } from "./drift.ts";
import { type IgnoreRule, ignoredPointers } from "./ignore-rules.ts";
import { mergePatchOf } from "./merge-patch.ts";
import { checkCreation, isKept, propagationOf } from "./recreation.ts";

export interface ComparedObject {
  readonly object: DriftObject;
  readonly resource: Resource<KubeObject>;
  /** As Helm applies it; to be created, without fields that are null. */
  readonly desired: KubeObject;
  /** The same to be applied to the object that exists. */
  readonly desiredBeside: (live: KubeObject) => KubeObject;
  readonly rules: readonly IgnoreRule[];
  /** Whether it is not missing if it does not exist. */
  readonly isRemovedByDesign: () => boolean;
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

interface ComparedWithLive {
  readonly comparison: ObjectComparison;
  readonly live?: KubeObject | undefined;
  /** What is applied to correct it; ignored fields have their live values. */
  readonly applied: KubeObject;
  /** How: no server-side apply takes some objects that exist. */
  readonly write: Write;
}

type Write = typeof apply;

interface ObserveOptions {
  /** JSON pointers that are ignored, too. */
  readonly excluded: readonly string[];
  readonly signal: AbortSignal;
}

async function observe(
  rest: KubeRest,
  compared: ComparedObject,
  { excluded, signal }: ObserveOptions,
): Promise<ComparedWithLive> {
  const { object, resource, desired: created, desiredBeside, rules, isRemovedByDesign } = compared;
  for (let attempt = 1; ; attempt += 1) {
    const live = await rest.get(resource, created.metadata, { signal });
    const desired = live === undefined ? created : desiredBeside(live);
    const ignored = [...ignoredPointers(rules, desired, live), ...excluded];
    const nothing = { comparison: same, live, applied: desired, write: apply };
    if (ignored.includes("") || live?.metadata.deletionTimestamp !== undefined) return nothing;
    if (live === undefined)
      return isRemovedByDesign() ? nothing : { ...nothing, comparison: missing(object) };
    const applied = unlessChanged(withLiveValues(desired, live, ignored), live);
    const foreign = foreignFields(object, { live, desired, ignored });
    try {
      const { reverted, write } = await dryRun(rest, resource, applied, live, signal);
      const drift = changedObject({ object, live, reverted, ignored });
      return { comparison: { drift, foreign }, live, applied, write };
    } catch (thrown) {
      const isRetried = isConflict(thrown) || isNotFound(thrown);
      if (isRetried && attempt < maxAttempts) continue;
      if (!isInvalid(thrown)) throw thrown;
      const drift = rejected(object, thrown);
      return { comparison: { drift, foreign }, live, applied, write: apply };
    }
  }
}

/**
 * What the object would be if `applied` were applied to `live`; undefined: it would be created. `force`: fields of other managers are
 * taken from them. Throws the API error.
 */
export async function dryRunApply(
  rest: KubeRest,
  {
    resource,
    applied,
    live,
    force,
  }: {
    readonly resource: Resource<KubeObject>;
    readonly applied: KubeObject;
    readonly live: KubeObject | undefined;
    readonly force: boolean;
  },
  signal: AbortSignal,
): Promise<KubeObject> {
  if (live === undefined || !force)
    return await apply(rest, resource, applied, { dryRun: true, force, signal });
  return (await dryRun(rest, resource, applied, live, signal)).reverted;
}

/** By a server-side apply, or by a patch where that takes no object of this form. */
async function dryRun(
  rest: KubeRest,
  resource: Resource<KubeObject>,
  applied: KubeObject,
  live: KubeObject,
  signal: AbortSignal,
): Promise<{ readonly reverted: KubeObject; readonly write: Write }> {
  const options = { dryRun: true, signal };
  try {
    return { reverted: await apply(rest, resource, applied, options), write: apply };
  } catch (thrown) {
    if (!isFormRejected(thrown)) throw thrown;
    const write: Write = (...[client, kind, body, settings]) =>
      merge(client, kind, body, live, settings);
    // What the API server says of the patch is about another form of the object.
    const reverted = await write(rest, resource, applied, options).catch(() => {
      throw thrown;
    });
    return { reverted, write };
  }
}

/** The API server does not build a typed object of it: it answers with 500, or in some versions with 400. */
function isFormRejected(thrown: unknown): thrown is KubeStatusError {
  return thrown instanceof KubeStatusError && [400, 500].includes(thrown.status);
}

/** Whether the answer says something of the object, and not of the state of the API server. */
export function isAboutObject(thrown: unknown): boolean {
  return (
    thrown instanceof KubeStatusError && [400, 403, 405, 413, 415, 422, 500].includes(thrown.status)
  );
}

async function merge(
  rest: KubeRest,
  resource: Resource<KubeObject>,
  desired: KubeObject,
  live: KubeObject,
  { dryRun: isDryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<KubeObject> {
  const patch = { type: "merge", body: mergePatchOf(desired, live) } as const;
  const options = { dryRun: isDryRun, fieldManager: helmFieldManager, signal };
  return await rest.patch(resource, live.metadata, patch, options);
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
  // biome-ignore lint/plugin: the API server names the field in its sentence alone
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
  {
    dryRun,
    force = true,
    signal,
  }: { readonly dryRun: boolean; readonly force?: boolean; readonly signal: AbortSignal },
): Promise<KubeObject> {
  const patch = { type: "apply", body, force } as const;
  const options = { dryRun, fieldManager: helmFieldManager, signal };
  return await rest.patch(resource, body.metadata, patch, options);
}

export interface CorrectionOptions extends ObserveOptions {
  /** An object that the API server does not let be changed back is deleted and created again, unless its kind is kept. */
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
  const { comparison, live, applied, write } = await observe(rest, compared, { excluded, signal });
  const { drift } = comparison;
  if (drift === undefined) return undefined;
  if (drift.what !== "rejected") {
    await write(rest, resource, applied, { dryRun: false, signal });
    return drift;
  }
  const { kind } = compared.object;
  if (isForced && live?.metadata.uid !== undefined && !isKept(kind)) {
    await checkCreation(rest, resource, desired, signal);
    // With finalizers it stays for a while: it is created when it is gone.
    const create = () => apply(rest, resource, desired, { dryRun: false, signal });
    const deletion = { resource, live, propagation: propagationOf(kind) };
    if (await deleteObject(rest, deletion, signal)) await create();
    return drift;
  }
  // The API server says why.
  await apply(rest, resource, applied, { dryRun: false, signal });
  return drift;
}
