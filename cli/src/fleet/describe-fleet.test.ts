import assert from "node:assert/strict";
import type { FleetState } from "@flotilla/local/state";
import { test } from "vitest";
import { describeFleet } from "./describe-fleet.ts";

const state: FleetState = {
  version: 1,
  provider: "embedded",
  startedAt: "2026-01-01T00:00:00Z",
  kubeconfig: "/home/ann/fleet/kubeconfig",
  clusters: [
    { name: "hub", server: "https://127.0.0.1:1", kubeconfig: "" },
    { name: "cluster-1", server: "https://127.0.0.1:2", kubeconfig: "" },
  ],
  addresses: {
    hub: "127.0.0.1:3",
    dashboard: "http://127.0.0.1:4",
    chartRepository: "http://127.0.0.1:5",
    registry: "oci://127.0.0.1:6/charts",
  },
  processes: [],
};

test("shows all addresses and the next steps", () => {
  assert.equal(
    describeFleet(state, {
      ...{ sample: true, bare: false, foreground: true },
      loginLink: "http://127.0.0.1:4/#login=code",
    }),
    `
The fleet is ready.

  dashboard         http://127.0.0.1:4/#login=code

  kubeconfig        /home/ann/fleet/kubeconfig  (contexts hub, cluster-1)
  chart repository  http://127.0.0.1:5
  OCI registry      oci://127.0.0.1:6/charts
  hub               127.0.0.1:3 (agents)

Next steps, in another terminal:

  npx flotilla kubectl get helmops,bundledeployments -A
  npx flotilla charts publish local/charts/web --version 0.1.6   # the sample HelmOp follows 0.1.x
  npx flotilla kubectl get bundledeployments -A -w
  npx flotilla kubectl --context cluster-1 get deployments -A
  npx flotilla status
  npx flotilla dashboard   # another link: each is for one login

Press Ctrl-C to stop the fleet.
`,
  );
});

test("has no command to publish a chart without the sample", () => {
  assert.doesNotMatch(
    describeFleet(state, { sample: false, bare: false, foreground: true }),
    /publish/,
  );
});

test("has the folder in every command if it is not the default", () => {
  const text = describeFleet(state, {
    sample: true,
    bare: false,
    foreground: false,
    dir: "/home/ann/fleet",
  });

  const commands = text.split("\n").filter((line) => line.includes("npx flotilla"));
  assert.equal(commands.length, 7);
  assert.ok(commands.every((line) => line.includes("FLOTILLA_DIR=/home/ann/fleet npx flotilla")));
});

test("names the values of the charts if nothing of Flotilla is installed", () => {
  const text = describeFleet(state, { sample: true, bare: true, foreground: true });

  assert.match(
    text,
    /install flotilla charts\/flotilla .*--values \/home\/ann\/fleet\/values\/flotilla\.json/,
  );
  assert.doesNotMatch(text, /publish|flotilla status/);
});
