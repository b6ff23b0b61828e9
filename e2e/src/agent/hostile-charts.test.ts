/** Charts that are made to end or to slow an agent, beside others that must not notice. */
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { hostileCharts } from "./hostile-charts.ts";

const { fleet, charts } = await startFleetForFile({ clusters: [{}] });
const { workspace } = fleet;
const hostile = await hostileCharts();
charts.publish(await configChart("healthy", "1.0.0"), ...hostile.map(([chart]) => chart));

const create = (name: string, chart: string) =>
  workspace.createHelmOp(name, { helm: { repo: charts.url, chart, version: "1.0.0" } });

test("hostile charts fail with the limit that they exceed, and 20 healthy ones become Ready beside them", async (t) => {
  const start = performance.now();
  await Promise.all(hostile.map(([{ name }]) => create(name, name)));
  const healthy = Array.from({ length: 20 }, (_, at) => `healthy-${at}`);
  await Promise.all(healthy.map((name) => create(name, "healthy")));

  await Promise.all(healthy.map((name) => workspace.waitUntilReady(name, "1.0.0", 1)));
  await t.annotate(`healthy after ${Math.round(performance.now() - start)} ms`);
  for (const [{ name }, why] of hostile) await workspace.waitForMessage(name, why);
  await t.annotate(`all after ${Math.round(performance.now() - start)} ms`);
});
