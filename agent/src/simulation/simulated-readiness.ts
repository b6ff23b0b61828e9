/** Objects of a cluster that is not there: all are ready as soon as they are asked for. */
import type { EngineDeps } from "../engine/engine.ts";
import type { Readiness } from "../readiness/readiness.ts";

export function createSimulatedReadiness(): EngineDeps["readiness"] {
  const followed = new Map<string, Readiness>();
  return {
    track(name, objects, namespace) {
      const count = objects.length;
      followed.set(name, {
        ready: true,
        notReady: [],
        resources: objects.map((object) => ({ namespace, ...object, state: "ready" })),
        incomplete: false,
        counts: { desiredReady: count, ready: count, notReady: 0, missing: 0, unknown: 0 },
      });
    },
    forget: (name) => void followed.delete(name),
    readinessOf: (name) => followed.get(name),
    onChange: () => undefined,
  };
}
