/** What a work queue tells of itself, named as in client-go so that dashboards carry over. */
import type { Registry } from "prom-client";
import { counterIn, gaugeIn, histogramIn } from "./metric.ts";

export interface QueueMetrics {
  /** A key was added that did not wait already. */
  added(): void;
  retried(): void;
  /** How many keys wait. */
  depth(count: number): void;
  /** A worker took a key, after it waited for so long. */
  started(waitedMs: number): void;
  finished(workedMs: number): void;
}

export const silentQueueMetrics: QueueMetrics = {
  added: () => undefined,
  retried: () => undefined,
  depth: () => undefined,
  started: () => undefined,
  finished: () => undefined,
};

const buckets = [10e-9, 10e-8, 10e-7, 10e-6, 10e-5, 10e-4, 10e-3, 10e-2, 10e-1, 10, 100, 1000];

/** The metrics of the queue with this name. */
export function queueMetrics(registry: Registry, name: string): QueueMetrics {
  const labels = { name };
  const adds = counterIn(registry, "workqueue_adds_total", "Keys that were added", ["name"]).labels(
    labels,
  );
  const retries = counterIn(
    registry,
    "workqueue_retries_total",
    "Keys that were added after a failure",
    ["name"],
  ).labels(labels);
  const depth = gaugeIn(registry, "workqueue_depth", "Keys that wait", ["name"]).labels(labels);
  const waited = histogramIn(registry, {
    name: "workqueue_queue_duration_seconds",
    help: "How long keys wait until they are worked on",
    labelNames: ["name"],
    buckets,
  });
  const worked = histogramIn(registry, {
    name: "workqueue_work_duration_seconds",
    help: "How long keys are worked on",
    labelNames: ["name"],
    buckets,
  });
  adds.inc(0);
  retries.inc(0);
  depth.set(0);
  waited.zero(labels);
  worked.zero(labels);
  const waitedHere = waited.labels(labels);
  const workedHere = worked.labels(labels);
  return {
    added: () => adds.inc(),
    retried: () => retries.inc(),
    depth: (count) => depth.set(count),
    started: (waitedMs) => waitedHere.observe(waitedMs / 1000),
    finished: (workedMs) => workedHere.observe(workedMs / 1000),
  };
}
