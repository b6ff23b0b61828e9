/**
 * Metrics whose series are read from objects when they are scraped. So no series is left of an object that was deleted
 * or has other labels, and a change of an object costs nothing. They are written here and not by prom-client: with
 * thousands of clusters there are tens of thousands of series, which it writes synchronously, and that would block the
 * hub for some tenths of a second.
 */
import { setImmediate } from "node:timers/promises";

export type Labels = Readonly<Record<string, string>>;

export interface Series {
  /** The suffix of the metric's name, for the series of a histogram: `_bucket`. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface SeriesMetric {
  readonly name: string;
  readonly help: string;
  /** Default: gauge. */
  readonly type?: "gauge" | "histogram";
  readonly series: () => Iterable<Series>;
}

export interface SeriesRegistry {
  /** Registers them; the returned function unregisters them. */
  register(metrics: readonly SeriesMetric[]): () => void;
  /** All series in the text format of Prometheus. The event loop runs between its pieces. */
  text(): AsyncIterable<string>;
}

/** Written in about a millisecond. */
const seriesAtATime = 500;

export function createSeriesRegistry(): SeriesRegistry {
  const registered = new Set<readonly SeriesMetric[]>();
  return {
    register(metrics) {
      registered.add(metrics);
      return () => void registered.delete(metrics);
    },
    async *text() {
      for (const metric of [...registered].flat())
        for (const piece of write(metric)) {
          yield piece;
          await setImmediate();
        }
    },
  };
}

function* write({ name, help, type = "gauge", series }: SeriesMetric): Iterable<string> {
  let piece = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  let count = 0;
  for (const { suffix = "", labels, value } of series()) {
    piece += `${name}${suffix}{${written(labels)}} ${value}\n`;
    count += 1;
    if (count % seriesAtATime > 0) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

function written(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}

const special = /[\\"\n]/g;

function escaped(value: string): string {
  return value.replace(special, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
