import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { test } from "vitest";
import { remarkOnCluster } from "./remarks.ts";

const rows: readonly (readonly [spec: Cluster["spec"], remark: string])[] = [
  [{}, ""],
  [{ paused: true, templateValues: { region: "eu" } }, ""],
  [{ hostNetwork: false, agentTolerations: [], agentSchedulingCustomization: {} }, ""],
  [{ agentSchedulingCustomization: { priorityClass: {} } }, ""],
  [{ redeployAgentGeneration: 0, agentNamespace: "" }, ""],
  [{ redeployAgentGeneration: 2 }, "spec.redeployAgentGeneration has no effect"],
  [
    { agentTolerations: [{ operator: "Exists" }], hostNetwork: true },
    "spec.agentTolerations, spec.hostNetwork have no effect",
  ],
  [
    { agentSchedulingCustomization: { priorityClass: { value: 5 } } },
    "spec.agentSchedulingCustomization has no effect",
  ],
  [{ kubeConfigSecret: "access" }, "spec.kubeConfigSecret has no effect"],
];

test.for(rows)("of a Cluster with %j it is said: %s", ([spec, remark]) => {
  const said = remarkOnCluster({ spec });

  const [what = ""] = said.split(": the agent is installed");
  assert.equal(what, remark);
});
