import assert from "node:assert/strict";
import { configMaps } from "@flotilla/shared/kube/objects";
import { settle } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { config, pod, pods, startTracker } from "./testing/index.ts";

test("a change of more than the status is reported with the object, and no other one is", async (t) => {
  const { rest, tracker, readiness } = startTracker(t);
  function put(spec: string, phase: string): void {
    const object = { metadata: { namespace: "apps", name: "pod" }, spec, status: { phase } };
    rest.put(pods, object);
  }
  put("a", "Pending");
  rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
  tracker.track("web", [pod, config], "apps");
  await readiness("web", () => true);
  const changes: string[] = [];
  tracker.onContentChange((name, { kind }) => void changes.push(`${name} ${kind}`));
  async function changesAfter(change: () => void): Promise<readonly string[]> {
    change();
    await settle();
    return changes.splice(0);
  }

  // Nothing is known of what was listed before the release was tracked.
  await changesAfter(() => put("a", "Running"));
  assert.deepEqual(await changesAfter(() => put("a", "Succeeded")), []);
  assert.deepEqual(await changesAfter(() => put("b", "Succeeded")), ["web Pod"]);
  const labels = { touched: "yes" };
  const labelled = { metadata: { namespace: "apps", name: "config", labels } };
  assert.deepEqual(await changesAfter(() => rest.put(configMaps, labelled)), ["web ConfigMap"]);
  const ref = { namespace: "apps", name: "config" };
  assert.deepEqual(await changesAfter(() => void rest.delete(configMaps, ref)), ["web ConfigMap"]);
  assert.deepEqual(
    tracker.objectsOf("web").map(({ resource }) => resource.kind),
    ["Pod", "ConfigMap"],
  );
});
