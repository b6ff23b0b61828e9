/** Values of a HelmRelease in a ConfigMap and a Secret of the hub, with stages: real agents install those of the content. */
import assert from "node:assert/strict";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { configMaps, namespaces, secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import type { TestCluster } from "../harness/fleet.ts";
import { installedConfig } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { chartOf, startReleaseFleet } from "./release-fleet.ts";

const releases = await startReleaseFleet({
  clusters: [{ canary: "true" }, {}],
  hubFlags: () => ["--local-without-account"],
});
const { charts, fleet, hub } = releases;
const [canary, rest] = fleet.clusters;
assert.ok(canary !== undefined && rest !== undefined);
const namespace = "fleet-default";
const ref = { namespace, name: "web" };
charts.publish(await configChart("app", "1.0.0"));
await releases.createRepository({ namespace, name: "charts" });
for (const { client } of [canary, rest])
  await client.create(namespaces, { metadata: { name: namespace } });

const first = { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } };
const strategy = { stages: [first, { name: "rest" }] };
const gated = { stages: [first, { name: "rest", before: [{ name: "check", external: {} }] }] };

async function setGreeting(greeting: string): Promise<void> {
  await hub.patch(
    configMaps,
    { namespace, name: "settings" },
    { type: "merge", body: { data: { "values.yaml": `greeting: ${greeting}` } } },
  );
}

async function greetingIn({ client }: TestCluster): Promise<string | undefined> {
  return (await installedConfig(client, "web", namespace))?.data?.["greeting"];
}

test("a changed ConfigMap reaches the canary first, and the others when their gate is gone", async () => {
  await hub.create(configMaps, {
    metadata: { namespace, name: "settings" },
    data: { "values.yaml": "greeting: one" },
  });
  await hub.create(secrets, {
    metadata: { namespace, name: "extra" },
    data: { greeting: Buffer.from("secret").toString("base64") },
  });
  await releases.create(ref, {
    ...chartOf("app"),
    targets: [{ clusterSelector: {} }],
    valuesFrom: [
      { kind: "ConfigMap", name: "settings" },
      { kind: "Secret", name: "extra", valuesKey: "greeting", targetPath: "other" },
    ],
    rolloutStrategy: strategy,
  });
  await releases.ready(ref, "1.0.0");
  assert.deepEqual([await greetingIn(canary), await greetingIn(rest)], ["one", "one"]);
  await releases.patch(ref, { rolloutStrategy: gated });

  await setGreeting("two");
  await waitForObject(
    hub,
    bundleRollouts,
    { namespace, name: "helmrelease-web-2" },
    "waiting for its gate",
    ({ status }) => status?.reason === "GateWaiting",
  );
  assert.deepEqual([await greetingIn(canary), await greetingIn(rest)], ["two", "one"]);
  await releases.patch(ref, { rolloutStrategy: strategy });
  await waitForObject(
    hub,
    bundleRollouts,
    { namespace, name: "helmrelease-web-2" },
    "completed",
    ({ status }) => status?.phase === "Completed",
  );

  assert.deepEqual([await greetingIn(canary), await greetingIn(rest)], ["two", "two"]);
});
