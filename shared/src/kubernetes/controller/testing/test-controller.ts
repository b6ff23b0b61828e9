/** A running controller, and the values of its metrics. */
import { Registry } from "prom-client";
import type { TestContext } from "vitest";
import { silentLog } from "../../../runtime/log/index.ts";
import { createFakeClock } from "../../../runtime/time/testing/index.ts";
import { createController } from "../controller.ts";
import type { Reconcile } from "../reconcile.ts";

/** A controller that runs until the end of the test, on a fake clock. */
export function startController(
  t: TestContext,
  reconcile: Reconcile,
  options: { readonly workers?: number; readonly timeoutMs?: number } = {},
) {
  const clock = createFakeClock();
  const metrics = new Registry();
  const stop = new AbortController();
  const controller = createController({
    name: "test",
    reconcile,
    log: silentLog(),
    metrics,
    clock,
    ...options,
  });
  const running = controller.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  t.onTestFinished(end);
  return { clock, metrics, controller, end };
}

/** The first value of a metric with these labels. */
export async function metricValue(
  registry: Registry,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const metric = await registry.getSingleMetric(name)?.get();
  const matches = (own: Readonly<Record<string, unknown>>): boolean =>
    Object.entries(labels).every(([label, value]) => own[label] === value);
  return metric?.values.find((value) => matches(value.labels))?.value;
}
