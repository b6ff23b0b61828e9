/** Where a rotation of the hub's authority stands, as its Secret tells it. Pure. */
import {
  certificateLifetimeAnnotation,
  rotationHandledAnnotation,
  rotationPhaseAnnotation,
  rotationRequestAnnotation,
  rotationSinceAnnotation,
} from "@flotilla/shared/api/names.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { formatGoDuration, parseGoDuration } from "@flotilla/shared/time/go-duration.ts";

export type RotationState =
  /** `lifetime`: of agents' certificates, for people. */
  | { readonly kind: "steady"; readonly lifetime: string }
  | { readonly kind: "rotating"; readonly what: string };

export function rotationState({ metadata }: Secret): RotationState {
  const said = metadata.annotations ?? {};
  const since = said[rotationSinceAnnotation] ?? "an unknown time";
  const lifetimeMs = parseGoDuration(said[certificateLifetimeAnnotation] ?? "");
  const lifetime = lifetimeMs === undefined ? "24h" : formatGoDuration(lifetimeMs);
  const phase = said[rotationPhaseAnnotation];
  if (phase === "introducing") {
    const what = `a new one is trusted since ${since} and signs after about ${lifetime}`;
    return { kind: "rotating", what };
  }
  if (phase === "switched") {
    const what = `a new one signs since ${since}, and the old one goes after about ${lifetime}`;
    return { kind: "rotating", what };
  }
  const request = said[rotationRequestAnnotation];
  return request !== undefined && request !== said[rotationHandledAnnotation]
    ? { kind: "rotating", what: `it was asked at ${request} and has not begun; see to the hub` }
    : { kind: "steady", lifetime };
}
