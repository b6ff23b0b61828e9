/** The readiness of simulated releases: all objects are ready at once, until the simulation changes that. */

import type { Readiness } from "../../observe/index.ts";
import type { EngineDeps } from "../../release/index.ts";

type Tracked = Parameters<EngineDeps["readiness"]["track"]>;

export interface SimulatedReadiness
  extends Pick<
    EngineDeps["readiness"],
    "track" | "forget" | "readinessOf" | "sharedObjectsOf" | "onChange"
  > {
  /**
   * Makes the release that is not ready ready again or, if there is none, the next one not ready. Returns which one; undefined if
   * there are no releases.
   */
  changeNext(): ChangedReadiness | undefined;
}

export interface ChangedReadiness {
  /** The name of the deployment. */
  readonly name: string;
  readonly ready: boolean;
}

export function createSimulatedReadiness(): SimulatedReadiness {
  /** The one that waits longest for its next change is the first. */
  const releases = new Map<string, { readonly tracked: Tracked; readiness: Readiness }>();
  const listeners: ((name: string) => void)[] = [];
  let unready: string | undefined;

  return {
    track(...tracked) {
      const [name] = tracked;
      if (name === unready) unready = undefined;
      releases.set(name, { tracked, readiness: toReadiness(tracked, true) });
    },
    forget(name) {
      if (name === unready) unready = undefined;
      releases.delete(name);
    },
    sharedObjectsOf: () => [],
    readinessOf: (name) => releases.get(name)?.readiness,
    onChange: (listener) => void listeners.push(listener),
    changeNext() {
      const [first] = releases.keys();
      const name = unready ?? first;
      const release = name === undefined ? undefined : releases.get(name);
      if (name === undefined || release === undefined) return undefined;
      const ready = name === unready;
      unready = ready ? undefined : name;
      releases.delete(name);
      releases.set(name, { ...release, readiness: toReadiness(release.tracked, ready) });
      for (const listener of listeners) listener(name);
      return { name, ready };
    },
  };
}

/** `ready`: of all objects. */
function toReadiness([, objects, { namespace }]: Tracked, ready: boolean): Readiness {
  const count = objects.length;
  const state = ready ? "ready" : "in-progress";
  const resources = objects.map((object) => ({ namespace, ...object, state }) as const);
  return {
    ready,
    resources,
    notReady: ready
      ? []
      : resources.map((resource) => ({ ...resource, message: "simulated: not ready" })),
    incomplete: false,
    counts: {
      desiredReady: count,
      missing: 0,
      unknown: 0,
      ready: ready ? count : 0,
      notReady: ready ? 0 : count,
    },
  };
}
