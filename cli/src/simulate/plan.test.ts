import assert from "node:assert/strict";
import { simulatedLabel } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { newBootstraps, newHelmOps, simulationName } from "./plan.ts";

const registration = { address: "127.0.0.1:8443", authoritiesPem: "", token: "t", labels: {} };

test("agents have names, client ids and the simulation label, and share one token", () => {
  const bootstraps = newBootstraps({ name: "many", id: "run" }, 2, registration);

  assert.deepEqual(
    bootstraps.map(({ clusterName, clientId, token, labels }) => [
      clusterName,
      clientId,
      token,
      labels,
    ]),
    [
      ["many-1", "simulation/many/run/1", "t", { simulation: "many" }],
      ["many-2", "simulation/many/run/2", "t", { simulation: "many" }],
    ],
  );
});

test("HelmOps are labelled with the simulation that created them", () => {
  const [helmOp] = newHelmOps("many", 1, "fleet-default");

  assert.equal(helmOp?.metadata.labels?.[simulatedLabel], "many");
});

test("HelmOps target only the clusters of the simulation", () => {
  const helmOps = newHelmOps("many", 2, "fleet-default");

  assert.deepEqual(
    helmOps.map(({ metadata }) => metadata.name),
    ["many-1", "many-2"],
  );
  assert.deepEqual(helmOps[1]?.spec.targets, [
    { clusterSelector: { matchLabels: { simulation: "many" } } },
  ]);
});

for (const [random, name] of [
  [0, "simulated-00000"],
  [0.5, "simulated-i0000"],
  [0.999999999, "simulated-zzzzz"],
] as const) {
  test(`the generated name for ${random} is ${name}`, () => {
    assert.equal(simulationName(random), name);
  });
}
