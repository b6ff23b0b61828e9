/**
 * The durations of reconciles by object, under Flux's name. Written as the series of objects are: with thousands of objects there are
 * tens of thousands of them.
 */
import type { Store } from "@flotilla/shared/kube/cache";
import type { Reconcile } from "@flotilla/shared/kube/controller";
import { type KubeObject, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import type { Labels, Series, SeriesMetric } from "./series.ts";

export interface ReconcileDurations {
  /** The reconcile with its durations observed, for the objects of one kind, while they exist. */
  timed(kind: string, objects: Pick<Store<KubeObject>, "get">, reconcile: Reconcile): Reconcile;
  readonly metric: SeriesMetric;
}

/** Flux's buckets, in seconds. */
const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];

interface Histogram {
  readonly labels: Labels;
  /** Observations by the first bucket that includes them; at last those above all. */
  readonly counts: number[];
  sumSeconds: number;
}

export function createReconcileDurations(clock: Pick<Clock, "monotonic">): ReconcileDurations {
  const histograms = new Map<string, Histogram>();

  function observe(kind: string, key: ObjectKey, seconds: number): void {
    const id = `${kind} ${key}`;
    const histogram = histograms.get(id) ?? emptyHistogram(kind, key);
    const at = buckets.findIndex((limit) => seconds <= limit);
    const index = at === -1 ? buckets.length : at;
    histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
    histogram.sumSeconds += seconds;
    histograms.set(id, histogram);
  }

  return {
    timed(kind, objects, reconcile) {
      return async function timedReconcile(key, context) {
        const startedAt = clock.monotonic();
        try {
          return await reconcile(key, context);
        } finally {
          const object = objects.get(key);
          if (object === undefined || object.metadata.deletionTimestamp !== undefined)
            histograms.delete(`${kind} ${key}`);
          else observe(kind, key, (clock.monotonic() - startedAt) / 1_000);
        }
      };
    },
    metric: {
      name: "gotk_reconcile_duration_seconds",
      help: "The duration in seconds of a GitOps Toolkit resource reconciliation.",
      type: "histogram",
      *series() {
        for (const histogram of histograms.values()) yield* seriesOf(histogram);
      },
    },
  };
}

function emptyHistogram(kind: string, key: ObjectKey): Histogram {
  const { namespace = "", name } = refOf(key);
  const counts = [...buckets, Number.POSITIVE_INFINITY].map(() => 0);
  return { labels: { kind, name, namespace }, counts, sumSeconds: 0 };
}

function* seriesOf({ labels, counts, sumSeconds }: Histogram): Iterable<Series> {
  let count = 0;
  for (const [index, each] of counts.entries()) {
    count += each;
    const le = String(buckets[index] ?? "+Inf");
    yield { suffix: "_bucket", labels: { ...labels, le }, value: count };
  }
  yield { suffix: "_sum", labels, value: sumSeconds };
  yield { suffix: "_count", labels, value: count };
}
