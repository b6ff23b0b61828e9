/** Maps drift between the wire and our own type. What others wrote into the cluster is only displayed, so it is cleaned. */

import type { DriftInfo } from "./deployment-state.ts";
import type { Drift__Output, Drift as WireDrift } from "./generated/flotilla/v1/Drift.ts";
import type { DriftEvent__Output } from "./generated/flotilla/v1/DriftEvent.ts";
import type { DriftedObject__Output } from "./generated/flotilla/v1/DriftedObject.ts";
import { atMost, shown, wireLimits } from "./validation.ts";

export function driftToWire({ objects, count, history, isWarning }: DriftInfo): WireDrift {
  return {
    objects: objects.slice(0, wireLimits.drifted).map(bounded),
    count,
    isWarning: isWarning ?? false,
    history: history.slice(0, wireLimits.driftHistory).map(bounded),
  };
}

function bounded<T extends { readonly fields: readonly string[] }>(each: T) {
  return { ...each, fields: each.fields.slice(0, wireLimits.driftFields).map(shown) };
}

export function driftFromWire({ objects, count, history, isWarning }: Drift__Output): DriftInfo {
  atMost(objects.length, wireLimits.drifted, "drift.objects");
  atMost(history.length, wireLimits.driftHistory, "drift.history");
  return {
    objects: objects.map((wire) => ({
      ...objectFromWire(wire),
      ...(wire.time !== "" && { time: shown(wire.time) }),
      missing: wire.missing,
      patch: shown(wire.patch),
    })),
    count,
    ...(isWarning && { isWarning: true as const }),
    history: history.map((wire) => ({
      ...objectFromWire(wire),
      time: shown(wire.time),
      result: shown(wire.result),
    })),
  };
}

function objectFromWire(wire: DriftedObject__Output | DriftEvent__Output) {
  atMost(wire.fields.length, wireLimits.driftFields, "drift.fields");
  return {
    apiVersion: shown(wire.apiVersion),
    kind: shown(wire.kind),
    ...(wire.namespace !== "" && { namespace: shown(wire.namespace) }),
    name: shown(wire.name),
    fields: wire.fields.map(shown),
    ...(wire.manager !== "" && { manager: shown(wire.manager) }),
  };
}
