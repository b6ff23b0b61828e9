/** Rollouts as tables and as JSON for scripts. The sentence is always the one in the status. Pure. */
import {
  type BundleRollout,
  type GateRecord,
  maxNamed,
  type StageStatus,
} from "@flotilla/shared/api/rollout";
import { oneLine } from "@flotilla/shared/text";
import { formatGoDuration, parseTime } from "@flotilla/shared/time";
import { formatTable } from "./format-table.ts";
import { printable } from "./printable.ts";

/** One line for each app: its newest rollout. */
export function rolloutsTable(
  list: readonly BundleRollout[],
  { hasNamespaces }: { readonly hasNamespaces: boolean },
): string {
  return formatTable(
    [
      ...(hasNamespaces ? ["NAMESPACE"] : []),
      ...["APP", "ROLLOUT", "VERSION", "PHASE", "STAGE", "DONE", "SINCE", "MESSAGE"],
    ],
    list.map(({ metadata, spec, status }) => [
      ...(hasNamespaces ? [metadata.namespace ?? ""] : []),
      `${spec.app.kind.toLowerCase()}/${spec.app.name}`,
      metadata.name,
      spec.version ?? "",
      status?.phase ?? "",
      status?.stage ?? "",
      doneText(status?.clusters),
      status?.since ?? "",
      line(status?.message),
    ]),
  );
}

/** What one rollout does and waits for, and a line for each stage. `notAccepted`: why its app is not, as it is written now. */
export function rolloutText(rollout: BundleRollout, nowMs: number, notAccepted = ""): string {
  const { metadata, spec, status } = rollout;
  const { next, breach, stages = [], unassigned, kept } = status ?? {};
  const heads: readonly (readonly [string, string])[] = [
    ["rollout", `${metadata.namespace ?? ""}/${metadata.name}`],
    ["app", `${spec.app.kind} ${spec.app.name}`],
    ["version", spec.version ?? "several"],
    ["phase", [status?.phase ?? "", status?.reason ?? ""].filter((word) => word !== "").join(", ")],
    ["stage", status?.stage ?? ""],
    ["done", doneText(status?.clusters)],
    ["since", sinceText(status?.since, nowMs)],
    ["message", line(status?.message)],
    ["not accepted", line(notAccepted)],
    ["asked for", spec.state === undefined || spec.state === "Running" ? "" : spec.state],
    [
      "next",
      next === undefined ? "" : `${next.version ?? next.revision}, ${sinceText(next.since, nowMs)}`,
    ],
    [
      "halted by",
      breach === undefined ? "" : `${breach.cause} in stage ${breach.stage}, ${breach.at}`,
    ],
    ["in no stage", namesText(unassigned)],
    ["keep it", namesText(kept)],
    ["skipped", namesText(listOf(spec.skip))],
  ];
  const head = heads
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name.padEnd(12)} ${printable(text)}\n`)
    .join("");
  const failing = stages.flatMap((stage) =>
    (stage.failing ?? []).map((each) => ({ stage: stage.name, ...each })),
  );
  const failed = formatTable(
    ["STAGE", "FAILED CLUSTER", "SINCE", "MESSAGE"],
    failing
      .slice(0, maxNamed)
      .map(({ stage, cluster, since, message }) => [stage, cluster, since, line(message)]),
  );
  return [head, stagesTable(stages), failed].filter((part) => part !== "").join("\n");
}

function stagesTable(stages: readonly StageStatus[]): string {
  return formatTable(
    ["STAGE", "PHASE", "DONE", "IN FLIGHT", "FAILED", "PENDING", "OTHERS", "SINCE", "GATES"],
    stages.map((stage) => [
      stage.name,
      stage.phase,
      doneText(stage),
      String(stage.inFlight),
      String(stage.failed),
      String(stage.pending),
      othersText(stage),
      stage.completedAt ?? stage.startedAt ?? "",
      (stage.gates ?? []).map(gateText).join(", "),
    ]),
  );
}

/** Clusters that neither have the revision nor wait for their turn. */
function othersText({ offline, paused, skipped, offSchedule }: StageStatus): string {
  const counts: readonly (readonly [number, string])[] = [
    [offline, "offline"],
    [paused, "paused"],
    [skipped, "skipped"],
    [offSchedule, "off schedule"],
  ];
  return counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(", ");
}

function gateText({ name, result, expiresAt }: GateRecord): string {
  const until = result === "Waiting" && expiresAt !== undefined ? ` until ${expiresAt}` : "";
  return `${name} ${result}${until}`;
}

/** The rollouts of an app, the newest first, and who decided what in them. */
export function rolloutHistory(list: readonly BundleRollout[]): string {
  const newestFirst = list.toReversed();
  const rollouts = formatTable(
    ["ROLLOUT", "VERSION", "PHASE", "STARTED", "ENDED", "DONE", "MESSAGE"],
    newestFirst.map(({ metadata, spec, status }) => [
      metadata.name,
      spec.version ?? "",
      status?.phase ?? "",
      status?.startedAt ?? "",
      status?.endedAt ?? "",
      doneText(status?.clusters),
      line(status?.message),
    ]),
  );
  const decisions = formatTable(
    ["ROLLOUT", "STAGE", "GATE", "TYPE", "RESULT", "BY", "AT", "MESSAGE"],
    newestFirst.flatMap(({ metadata, status }) =>
      (status?.stages ?? []).flatMap(({ name: stage, gates = [] }) =>
        gates
          .filter(({ decision }) => decision !== undefined)
          .map((record) => [metadata.name, stage, ...decisionCells(record)]),
      ),
    ),
  );
  return [rollouts, decisions].filter((part) => part !== "").join("\n");
}

function decisionCells({ name, type, result, decision }: GateRecord): readonly string[] {
  const { by = "", at = "", message = "", verified } = decision ?? {};
  const who = by === "" ? "the hub" : printable(by);
  return [name, type, result, verified === false ? `${who} (unverified)` : who, at, line(message)];
}

/** A rollout for scripts: what people ask for, and its status. */
export function rolloutJson({ metadata, spec, status }: BundleRollout): unknown {
  const {
    observedGeneration: _generation,
    conditions: _conditions,
    display: _display,
    ...shown
  } = status ?? {};
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    app: spec.app,
    version: spec.version,
    revision: spec.revision,
    state: spec.state ?? "Running",
    skip: spec.skip,
    skipStages: spec.skipStages,
    ...shown,
  };
}

function doneText(counts: { readonly done: number; readonly total: number } | undefined): string {
  return counts === undefined ? "" : `${counts.done}/${counts.total}`;
}

function sinceText(since: string | undefined, nowMs: number): string {
  const atMs = parseTime(since);
  if (since === undefined || atMs === undefined) return "";
  return `${since} (${formatGoDuration(Math.max(0, Math.round((nowMs - atMs) / 1_000)) * 1_000)})`;
}

interface NamedClusters {
  readonly count: number;
  readonly first: readonly string[];
}

function listOf(names: readonly string[] | undefined): NamedClusters | undefined {
  return names === undefined || names.length === 0
    ? undefined
    : { count: names.length, first: names.slice(0, maxNamed) };
}

/** `3: a, b, c`; with more than ten `12: a, ... and 2 more`. */
export function namesText(named: NamedClusters | undefined): string {
  if (named === undefined || named.count === 0) return "";
  const first = named.first.slice(0, maxNamed);
  const more = named.count - first.length;
  return `${named.count}: ${first.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function line(text: string | undefined): string {
  return oneLine(printable(text ?? ""));
}
