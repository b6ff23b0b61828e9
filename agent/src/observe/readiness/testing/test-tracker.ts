/** A tracker over an API server in memory, and the objects that its tests use. */
import { KubeStatusError } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import type { TestContext } from "vitest";
import type { OwnedObject } from "../../../helm/record/manifest.ts";
import { builtInKind } from "../built-in-kinds.ts";
import type { Readiness } from "../readiness.ts";
import { ReadinessTracker } from "../tracker.ts";

export const config: OwnedObject = { apiVersion: "v1", kind: "ConfigMap", name: "config" };
export const pod: OwnedObject = { apiVersion: "v1", kind: "Pod", name: "pod" };
export const thing: OwnedObject = { apiVersion: "example.com/v1", kind: "Thing", name: "thing" };
export const things: Resource<KubeObject> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};
export const pods = builtInKind("v1", "Pod") ?? things;

export function podThat(phase: string): KubeObject {
  const object = { metadata: { namespace: "apps", name: "pod" }, status: { phase } };
  return object;
}

export function statusError(status: number, message: string): KubeStatusError {
  return new KubeStatusError(message, { status, reason: "" });
}

/** The response of discovery for `things`. */
export const thingsDiscovery = JSON.stringify({
  resources: [
    { name: "things", kind: "Thing", namespaced: true },
    { name: "things/status", kind: "Thing", namespaced: true },
  ],
});

/** Runs until the end of the test. */
export function startTracker(t: TestContext) {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const tracker = new ReadinessTracker({ rest, clock, log: silentLog() });
  const checks = new Set<() => void>();
  const reported: string[] = [];
  tracker.onChange((name) => {
    reported.push(name);
    for (const check of checks) check();
  });
  const ending = new AbortController();
  const running = tracker.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  /** Resolves once the readiness of a release satisfies `isExpected`. */
  function readiness(name: string, isExpected: (readiness: Readiness) => boolean) {
    return new Promise<Readiness>((resolve) => {
      const check = (): void => {
        const found = tracker.readinessOf(name);
        if (found === undefined || !isExpected(found)) return;
        checks.delete(check);
        resolve(found);
      };
      checks.add(check);
      check();
    });
  }
  const client = { subject: "the agent", rest, isPerNamespace: false };
  return {
    rest,
    clock,
    tracker: {
      track: (name: string, objects: readonly OwnedObject[], namespace: string) =>
        tracker.track(name, objects, { namespace, client }),
      forget: (name: string) => tracker.forget(name),
      readinessOf: (name: string) => tracker.readinessOf(name),
      sharedObjectsOf: (name: string) => tracker.sharedObjectsOf(name),
      objectsOf: (name: string) => tracker.objectsOf(name),
      onChange: (listener: (name: string) => void) => tracker.onChange(listener),
      onContentChange: (listener: (name: string, object: OwnedObject) => void) =>
        tracker.onContentChange(listener),
    },
    reported,
    readiness,
    /** With the agent's tracker, but as an account. */
    trackAs: (...args: Parameters<ReadinessTracker["track"]>) => tracker.track(...args),
  };
}
