/** Metrics of controllers and work queues, named as in controller-runtime and client-go so that dashboards carry over. */
import { Counter, Gauge, Histogram, type HistogramConfiguration, type Registry } from "prom-client";

const results = ["success", "error", "requeue", "requeue_after"] as const;

/** How a reconcile ended. */
export type ReconcileResult = (typeof results)[number];

export interface ControllerMetrics {
  result(result: ReconcileResult): void;
  took(durationMs: number): void;
}

const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
  1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** The metrics of the controller `name`; every series exists from the start. */
export function controllerMetrics(registry: Registry, name: string): ControllerMetrics {
  const total = counterIn(
    registry,
    "controller_runtime_reconcile_total",
    "Reconciles by controller and result",
    ["controller", "result"],
  );
  const errors = counterIn(
    registry,
    "controller_runtime_reconcile_errors_total",
    "Reconciles that failed, by controller",
    ["controller"],
  );
  const time = histogramIn(registry, {
    name: "controller_runtime_reconcile_time_seconds",
    help: "Duration of a reconcile, by controller",
    labelNames: ["controller"],
    buckets: reconcileBuckets,
  });
  for (const result of results) total.labels({ controller: name, result }).inc(0);
  errors.labels({ controller: name }).inc(0);
  time.zero({ controller: name });
  const duration = time.labels({ controller: name });

  return {
    result(result) {
      total.labels({ controller: name, result }).inc();
      if (result === "error") errors.labels({ controller: name }).inc();
    },
    took: (durationMs) => duration.observe(durationMs / 1000),
  };
}

export interface QueueMetrics {
  /** A key was added that was not in the queue. */
  added(): void;
  retried(): void;
  /** How many keys are in the queue. */
  depth(count: number): void;
  /** A worker got a key that had been queued for `queuedMs`. */
  started(queuedMs: number): void;
  finished(workedMs: number): void;
}

export const noQueueMetrics: QueueMetrics = {
  added: () => undefined,
  retried: () => undefined,
  depth: () => undefined,
  started: () => undefined,
  finished: () => undefined,
};

const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

/** The metrics of the queue `name`. */
export function queueMetrics(registry: Registry, name: string): QueueMetrics {
  const labels = { name };
  const counter = (metric: string, help: string) =>
    counterIn(registry, metric, help, ["name"]).labels(labels);
  const histogram = (metric: string, help: string) => {
    const all = histogramIn(registry, {
      name: metric,
      help,
      labelNames: ["name"],
      buckets: queueBuckets,
    });
    all.zero(labels);
    return all.labels(labels);
  };
  const adds = counter("workqueue_adds_total", "Keys added to the work queue");
  const retries = counter("workqueue_retries_total", "Keys added again after a failure");
  const depth = gaugeIn(registry, "workqueue_depth", "Keys in the work queue", ["name"]).labels(
    labels,
  );
  const queued = histogram(
    "workqueue_queue_duration_seconds",
    "How long a key is in the queue before a worker takes it",
  );
  const worked = histogram(
    "workqueue_work_duration_seconds",
    "How long a worker processes a key from the queue",
  );
  adds.inc(0);
  retries.inc(0);
  depth.set(0);
  return {
    added: () => adds.inc(),
    retried: () => retries.inc(),
    depth: (count) => depth.set(count),
    started: (queuedMs) => queued.observe(queuedMs / 1000),
    finished: (workedMs) => worked.observe(workedMs / 1000),
  };
}

/** The metric of this name, created where the registry has none: controllers share metrics and differ by label. */
function counterIn<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[],
): Counter<L> {
  const known = registry.getSingleMetric(name);
  if (known instanceof Counter) return known;
  return new Counter({ name, help, labelNames, registers: [registry] });
}

function gaugeIn<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[],
): Gauge<L> {
  const known = registry.getSingleMetric(name);
  if (known instanceof Gauge) return known;
  return new Gauge({ name, help, labelNames, registers: [registry] });
}

function histogramIn<L extends string>(
  registry: Registry,
  configuration: HistogramConfiguration<L>,
): Histogram<L> {
  const known = registry.getSingleMetric(configuration.name);
  if (known instanceof Histogram) return known;
  return new Histogram({ ...configuration, registers: [registry] });
}
