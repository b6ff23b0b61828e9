/**
 * Requests of users by annotation. As in Flux a new value is one request, whatever the value; what else is requested has the same
 * value, so that it is requested once, too. Pure.
 */
import type { ObjectMeta } from "../../../kubernetes/objects/index.ts";

/**
 * On a HelmOp, a HelmRelease, a source or a Bundle: a request to read its source again and to reconcile its releases. Any new value is
 * one request, as in Flux.
 */
export const reconcileRequestAnnotation = "reconcile.fluxcd.io/requestedAt";
/** With the value of that request: Helm upgrades the releases, whatever their state. As in Flux. */
export const forceRequestAnnotation = "reconcile.fluxcd.io/forceAt";
/** With the value of that request: failed attempts before it do not count. As in Flux. */
export const resetRequestAnnotation = "reconcile.fluxcd.io/resetAt";
/** With the value of that request: what others have changed in the objects of the releases is changed back, once. */
export const correctDriftRequestAnnotation = "flotilla.dev/correct-drift-at";
/** On a HelmOp: a request to poll now, set for a webhook of a registry. Any new value is one request. */
export const pollRequestAnnotation = "flotilla.dev/poll-requested-at";

/** The values of a request: the values of the annotations, and the fields of a BundleDeployment that they become. */
export interface RequestTokens {
  readonly requestedAt?: string | undefined;
  readonly forceAt?: string | undefined;
  readonly resetAt?: string | undefined;
  readonly correctDriftAt?: string | undefined;
}

const fields = [
  ["requestedAt", reconcileRequestAnnotation],
  ["forceAt", forceRequestAnnotation],
  ["resetAt", resetRequestAnnotation],
  ["correctDriftAt", correctDriftRequestAnnotation],
] as const satisfies readonly (readonly [keyof RequestTokens, string])[];

/** A request of a user. Without any of the flags the object is only reconciled. */
interface UserRequest {
  /** Not empty; another one is another request. */
  readonly token: string;
  readonly force: boolean;
  readonly reset: boolean;
  readonly correctDrift: boolean;
}

type Annotated = Pick<ObjectMeta, "annotations">;

/** The values as a user wrote them, which may be anything. */
export function requestTokens({ annotations = {} }: Annotated): RequestTokens {
  return {
    requestedAt: annotations[reconcileRequestAnnotation],
    forceAt: annotations[forceRequestAnnotation],
    resetAt: annotations[resetRequestAnnotation],
    correctDriftAt: annotations[correctDriftRequestAnnotation],
  };
}

/** Undefined: nothing is requested. A flag of another request, which was handled or was never made, does not count. */
export function requestOf(tokens: RequestTokens): UserRequest | undefined {
  const { requestedAt: token, forceAt, resetAt, correctDriftAt } = tokens;
  if (token === undefined || token === "") return undefined;
  return {
    token,
    force: forceAt === token,
    reset: resetAt === token,
    correctDrift: correctDriftAt === token,
  };
}

/** The values by which it is requested; what is not requested has none. */
export function tokensOf({ token, force, reset, correctDrift }: UserRequest): RequestTokens {
  return {
    requestedAt: token,
    ...(force && { forceAt: token }),
    ...(reset && { resetAt: token }),
    ...(correctDrift && { correctDriftAt: token }),
  };
}

/** The annotations that have these values, without those that are absent or empty. */
export function requestAnnotations(tokens: RequestTokens): Readonly<Record<string, string>> {
  const given = fields.flatMap(([field, name]) => {
    const value = tokens[field] ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}
