/**
 * A gauge whose series are read from objects when somebody asks for them. So nothing is kept that could be left over from an
 * object that is gone or has other labels, and a change of an object costs nothing.
 */
import { Gauge, type Registry } from "prom-client";

export type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly labels: Labels;
  readonly value: number;
}

export interface SeriesMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly series: () => readonly Series[];
}

/** Adds them; the result takes them away again. */
export function registerSeries(registry: Registry, metrics: readonly SeriesMetric[]): () => void {
  for (const metric of metrics) registry.registerMetric(gaugeOf(metric));
  return () => {
    for (const { name } of metrics) registry.removeSingleMetric(name);
  };
}

function gaugeOf({ name, help, labelNames, series }: SeriesMetric): Gauge {
  const gauge = new Gauge({ name, help, labelNames, registers: [] });
  const own = gauge.get.bind(gauge);
  // What a gauge keeps for itself costs a hash for each series and each time.
  return Object.assign(gauge, {
    get: async () => ({
      ...(await own()),
      values: series().map(({ labels, value }) => ({ labels, value })),
    }),
  });
}
