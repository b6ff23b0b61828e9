/** Metrics of a registry by name: several controllers share the same ones and differ by label. */
import { Counter, Gauge, Histogram, type HistogramConfiguration, type Registry } from "prom-client";

export function counterIn<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[],
): Counter<L> {
  const known = registry.getSingleMetric(name);
  if (known instanceof Counter) return known;
  return new Counter({ name, help, labelNames, registers: [registry] });
}

export function gaugeIn<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[],
): Gauge<L> {
  const known = registry.getSingleMetric(name);
  if (known instanceof Gauge) return known;
  return new Gauge({ name, help, labelNames, registers: [registry] });
}

export function histogramIn<L extends string>(
  registry: Registry,
  configuration: HistogramConfiguration<L>,
): Histogram<L> {
  const known = registry.getSingleMetric(configuration.name);
  if (known instanceof Histogram) return known;
  return new Histogram({ ...configuration, registers: [registry] });
}
