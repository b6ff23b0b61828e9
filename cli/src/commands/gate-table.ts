/** Gates as a table, as what somebody decides about, and as JSON for scripts. Pure. */

import type { Gate } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { oneLine } from "@flotilla/shared/text";
import { formatTable } from "./format-table.ts";
import { printable } from "./printable.ts";
import { namesText } from "./rollout-table.ts";

export function gatesTable(
  list: readonly Gate[],
  { hasNamespaces }: { readonly hasNamespaces: boolean },
): string {
  return formatTable(
    [
      ...(hasNamespaces ? ["NAMESPACE"] : []),
      ...["GATE", "APP", "STAGE", "WHEN", "TYPE", "RESULT", "BY", "CLUSTERS", "EXPIRES"],
    ],
    list.map((gate) => {
      const { metadata, spec, status } = gate;
      return [
        ...(hasNamespaces ? [metadata.namespace ?? ""] : []),
        metadata.name,
        `${spec.app.kind.toLowerCase()}/${spec.app.name}`,
        spec.stage,
        spec.when,
        spec.type,
        resultOf(gate),
        printable(status?.decision?.by ?? ""),
        String(spec.clusters.count),
        spec.expiresAt ?? "",
      ];
    }),
  );
}

/** Everything that a decision is about, and the decision where there is one. */
export function gateDescription(gate: Gate): string {
  const { metadata, spec, status } = gate;
  const { plan, config = {} } = spec;
  const { decision } = status ?? {};
  const reason = findCondition(status?.conditions, "Passed")?.message ?? "";
  const lines: readonly (readonly [string, string])[] = [
    ["gate", `${metadata.namespace ?? ""}/${metadata.name}`],
    ["type", spec.type],
    ["rollout", `${spec.rollout.name} of ${spec.app.kind} ${spec.app.name}`],
    ["version", spec.version ?? "several"],
    ["stage", `${spec.stage}, ${spec.when === "Before" ? "before" : "after"} it: ${spec.gate}`],
    ["clusters", spec.clusters.count === 0 ? "0" : namesText(spec.clusters)],
    [
      "plan",
      plan === undefined
        ? ""
        : `${plan.groups} ${plan.groups === 1 ? "group" : "groups"}: ${plan.changed} changed, ${plan.unchanged} unchanged, ${plan.failing} failing, ${plan.offline} offline`,
    ],
    ...Object.entries(config).map(([key, value]) => ["config", `${key}: ${value}`] as const),
    ["expires", spec.expiresAt ?? ""],
    ["digest", spec.digest],
    ["result", resultOf(gate)],
    ["decided by", decision?.by ?? ""],
    ["message", decision?.message ?? reason],
  ];
  return lines
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name.padEnd(10)} ${oneLine(printable(text))}\n`)
    .join("");
}

/** The reason of the hub; before it has stored a decision, that one; else `Waiting`. */
function resultOf({ status }: Gate): string {
  const passed = findCondition(status?.conditions, "Passed");
  if (passed !== undefined && passed.status !== "Unknown") return passed.reason ?? passed.status;
  return status?.decision === undefined ? "Waiting" : `${status.decision.result}, not stored yet`;
}

/** The fields of a Gate that scripts decide by. */
export function gateJson(gate: Gate): unknown {
  const { metadata, spec, status } = gate;
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    result: gateState(gate),
    ...spec,
    decision: status?.decision,
    conditions: status?.conditions,
  };
}

function gateState({ status }: Gate): "Waiting" | "Passed" | "Failed" {
  const passed = findCondition(status?.conditions, "Passed");
  if (passed?.status === "True") return "Passed";
  return passed?.status === "False" ? "Failed" : "Waiting";
}
