/** What a controller tells of itself, named as in controller-runtime so that dashboards carry over. */
import type { Registry } from "prom-client";
import { counterIn, histogramIn } from "./metric.ts";

const results = ["success", "error", "requeue", "requeue_after"] as const;

/** How a reconcile ended. */
export type ReconcileResult = (typeof results)[number];

export interface ControllerMetrics {
  result(result: ReconcileResult): void;
  took(durationMs: number): void;
}

const buckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
  1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** The metrics of the controller with this name, all there from the start. */
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
    "Reconciles that failed",
    ["controller"],
  );
  const time = histogramIn(registry, {
    name: "controller_runtime_reconcile_time_seconds",
    help: "How long reconciles take",
    labelNames: ["controller"],
    buckets,
  });
  for (const result of results) total.labels({ controller: name, result }).inc(0);
  errors.labels({ controller: name }).inc(0);
  time.zero({ controller: name });
  const timeHere = time.labels({ controller: name });

  return {
    result(result) {
      total.labels({ controller: name, result }).inc();
      if (result === "error") errors.labels({ controller: name }).inc();
    },
    took: (durationMs) => timeHere.observe(durationMs / 1000),
  };
}
