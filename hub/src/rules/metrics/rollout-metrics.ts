/**
 * Metrics of staged rollouts: of each Bundle the newest one alone, which the status of the Bundle names, so that what others create in
 * its name is not counted. At most 2 series for each app, 8 for each of its stages, and one for each gate that is waited for; they go with
 * the Bundle or its BundleRollout. Pure.
 */
import type { Bundle } from "@flotilla/shared/api";
import type { BundleRollout, BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { parseTime } from "@flotilla/shared/time";
import type { Labels, Series, SeriesMetric } from "./series.ts";

export interface RolloutSources {
  readonly bundles: () => readonly Bundle[];
  readonly rolloutOf: (key: ObjectKey) => BundleRollout | undefined;
  /** Ms since 1970. */
  readonly now: () => number;
}

/** The states of the clusters of a stage; each cluster is in one of them. */
const states = [
  ["done", "done"],
  ["in_flight", "inFlight"],
  ["failed", "failed"],
  ["pending", "pending"],
  ["offline", "offline"],
  ["paused", "paused"],
  ["skipped", "skipped"],
  ["off_schedule", "offSchedule"],
] as const;

/** Phases in which somebody or something is waited for. */
const waitingPhases: ReadonlySet<BundleRolloutStatus["phase"]> = new Set(["Waiting", "Halted"]);

/** Phases in which a gate that has not ended is waited for. */
const openPhases: ReadonlySet<BundleRolloutStatus["phase"]> = new Set(["Progressing", "Waiting"]);

export function rolloutMetrics(sources: RolloutSources): readonly SeriesMetric[] {
  return [
    metric(
      "flotilla_rollout_info",
      "The newest staged rollout of an app, with its phase; always 1.",
      infoSeries,
    ),
    metric(
      "flotilla_rollout_clusters",
      "How many clusters of a stage of the newest rollout of an app are in this state.",
      clusterSeries,
    ),
    metric(
      "flotilla_rollout_waiting_seconds",
      "For how long a rollout has been waiting for the same thing, or is halted; absent while it is neither.",
      waitingSeries,
    ),
    metric(
      "flotilla_gate_waiting_seconds",
      "For how long a gate has been waited for; absent once it has ended.",
      gateSeries,
    ),
  ];

  function metric(
    name: string,
    help: string,
    seriesOf: (current: CurrentRollout, nowMs: number) => Iterable<Series>,
  ): SeriesMetric {
    return {
      name,
      help,
      series: function* () {
        const nowMs = sources.now();
        for (const bundle of sources.bundles()) {
          const current = currentOf(bundle, sources);
          if (current !== undefined) yield* seriesOf(current, nowMs);
        }
      },
    };
  }
}

interface CurrentRollout {
  readonly rollout: BundleRollout;
  readonly status: BundleRolloutStatus;
  /** Which app it is of. */
  readonly labels: Labels;
}

function currentOf(
  { metadata, status: ofBundle }: Bundle,
  { rolloutOf }: Pick<RolloutSources, "rolloutOf">,
): CurrentRollout | undefined {
  const { namespace = "" } = metadata;
  const name = ofBundle?.rollout?.name;
  const rollout = name === undefined ? undefined : rolloutOf(keyOf({ namespace, name }));
  if (rollout?.status === undefined || rollout.spec.bundle.uid !== metadata.uid) return undefined;
  const { kind, name: app } = rollout.spec.app;
  return { rollout, status: rollout.status, labels: { namespace, kind, name: app } };
}

function* infoSeries({ rollout, status, labels }: CurrentRollout): Iterable<Series> {
  const { phase, reason = "", stage = "" } = status;
  const { version = "" } = rollout.spec;
  const more = { rollout: rollout.metadata.name, version, phase, reason, stage };
  yield { labels: { ...labels, ...more }, value: 1 };
}

function* clusterSeries({ status, labels }: CurrentRollout): Iterable<Series> {
  for (const stage of status.stages ?? [])
    for (const [state, field] of states)
      yield { labels: { ...labels, stage: stage.name, state }, value: stage[field] };
}

function* waitingSeries({ status, labels }: CurrentRollout, nowMs: number): Iterable<Series> {
  const { phase, reason = "", stage = "", since } = status;
  if (waitingPhases.has(phase))
    yield { labels: { ...labels, phase, reason, stage }, value: secondsSince(since, nowMs) };
}

function* gateSeries({ status, labels }: CurrentRollout, nowMs: number): Iterable<Series> {
  if (!openPhases.has(status.phase)) return;
  for (const { name: stage, gates = [] } of status.stages ?? [])
    for (const { name: gate, type, when, result, startedAt } of gates)
      if (result === "Waiting")
        yield {
          labels: { ...labels, stage, gate, type, when: when.toLowerCase() },
          value: secondsSince(startedAt, nowMs),
        };
}

/** Not negative, whatever the clock of the leader that wrote the time said. */
function secondsSince(time: string | undefined, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - (parseTime(time) ?? nowMs)) / 1000));
}
