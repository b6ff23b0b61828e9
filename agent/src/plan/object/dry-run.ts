/** Asks the API server what an object becomes if Helm applies it, and classifies its answer. Nothing is written. */
import { messageOf } from "@flotilla/shared/errors";
import {
  isConflict,
  isForbidden,
  isNotFound,
  type KubeRest,
  KubeStatusError,
} from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { PlanRemark } from "@flotilla/shared/plan";
import {
  applyConflictOf,
  helmFieldManager,
  lacksDryRun,
  refusedStructure,
  rejectedFieldOf,
} from "../../helm/index.ts";
import { dryRunApply, isKept } from "../../observe/index.ts";
import { mergedObject } from "../change/expected-object.ts";
import { isSecret } from "../change/masking.ts";

/** How Helm applies the objects of the release. */
export interface ApplyMethod {
  /** Fields of other managers are taken from them. */
  readonly force: boolean;
  /** Objects are replaced as a whole. */
  readonly replaces: boolean;
  /** Objects that the API server does not let be changed are deleted and created again. */
  readonly replacesRefused: boolean;
  /** Where a server-side apply is refused for the structure of an object, the release is applied by the client. */
  readonly mayUseClient: boolean;
}

export interface Applied {
  readonly resource: Resource<KubeObject>;
  readonly desired: KubeObject;
  /** The same with its nulls, which Helm sends: such a field gets its default, and is Helm's. Absent: there are none. */
  readonly withNulls?: KubeObject;
  readonly live: KubeObject | undefined;
  readonly method: ApplyMethod;
}

export type DryRun =
  | { readonly kind: "accepted"; readonly planned: KubeObject; readonly remark?: PlanRemark }
  /** It is deleted and created again. */
  | { readonly kind: "replaced"; readonly planned: KubeObject }
  /** Its namespace does not exist. */
  | { readonly kind: "no namespace" }
  | { readonly kind: "rejected"; readonly why: string };

/** An object may change while it is asked for. */
const maxAttempts = 3;

/** Throws what says nothing of the object: that the API server cannot be reached, or is busy. */
export async function dryRunOf(
  rest: KubeRest,
  applied: Applied,
  signal: AbortSignal,
): Promise<DryRun> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { kind: "accepted", planned: await ask(rest, applied, signal) };
    } catch (thrown) {
      const answer = await answerTo(thrown, rest, applied, signal);
      if (answer !== undefined) return answer;
      if (!isConflict(thrown) || attempt >= maxAttempts) throw thrown;
    }
  }
}

async function ask(
  rest: KubeRest,
  { resource, desired, withNulls = desired, live, method }: Applied,
  signal: AbortSignal,
): Promise<KubeObject> {
  if (live === undefined || !method.replaces)
    return await dryRunApply(
      rest,
      { resource, applied: withNulls, live, force: method.force },
      signal,
    );
  const { resourceVersion } = live.metadata;
  const body = {
    ...desired,
    metadata: { ...desired.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
  };
  return await rest.replace(resource, body, {
    dryRun: true,
    fieldManager: helmFieldManager,
    signal,
  });
}

/** Undefined: it says nothing of the object. */
async function answerTo(
  thrown: unknown,
  rest: KubeRest,
  applied: Applied,
  signal: AbortSignal,
): Promise<DryRun | undefined> {
  if (!(thrown instanceof KubeStatusError)) return undefined;
  const { desired, live, method } = applied;
  const { serverMessage } = thrown;
  if (lacksDryRun(serverMessage))
    return { ...withoutServer(applied), remark: "NotComparedByServer" };
  if (isForbidden(thrown)) return { kind: "rejected", why: messageOf(thrown) };
  if (isNotFound(thrown) && live === undefined) return { kind: "no namespace" };
  const conflict = applyConflictOf(serverMessage);
  if (conflict !== undefined) {
    if (conflict.isWithControllers && method.mayUseClient) {
      const { resource } = applied;
      // A patch of the client leaves fields without a value alone.
      const patched = { resource, desired, live, method: { ...method, force: true } };
      return await dryRunOf(rest, patched, signal);
    }
    const managers = conflict.managers.map((name) => JSON.stringify(name)).join(", ");
    return {
      kind: "rejected",
      why: `${conflict.fields.join(", ")}: managed by ${managers}, and Helm does not take fields from other managers`,
    };
  }
  const { kind = "", metadata } = desired;
  const object = { kind, name: metadata.name };
  if (method.mayUseClient && refusedStructure({ object, why: serverMessage }) !== undefined)
    return withoutServer(applied);
  // What cannot be replaced as a whole is patched with the next attempt.
  if (thrown.status === 422 && method.replaces && live !== undefined)
    return await dryRunOf(rest, { ...applied, method: { ...method, replaces: false } }, signal);
  if (thrown.status === 422) return invalid(serverMessage, applied);
  if (![400, 405, 413, 415, 500].includes(thrown.status)) return undefined;
  return { kind: "rejected", why: rejectionText(serverMessage, desired) };
}

function withoutServer({ desired, live }: Applied): Extract<DryRun, { kind: "accepted" }> {
  const planned = live === undefined ? desired : mergedObject(live, desired);
  return { kind: "accepted", planned };
}

function invalid(serverMessage: string, { desired, live, method }: Applied): DryRun {
  const { field, immutable } = rejectedFieldOf(serverMessage);
  const { kind = "" } = desired;
  // Shown with the defaults that it has now: it gets them again.
  if (live !== undefined && immutable !== undefined && method.replacesRefused && !isKept(kind))
    return { kind: "replaced", planned: mergedObject(live, desired) };
  const rule = immutable ?? "the API server rejects it as invalid";
  return { kind: "rejected", why: field === "" ? rule : `${field}: ${rule}` };
}

/** The sentence may have values of the object. */
function rejectionText(serverMessage: string, { apiVersion = "", kind = "" }: KubeObject): string {
  const isShown = serverMessage !== "" && !isSecret({ apiVersion, kind });
  return isShown ? `the API server rejects it: ${serverMessage}` : "the API server rejects it";
}
