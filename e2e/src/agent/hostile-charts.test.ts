/** Charts that are made to end or to slow an agent, beside others that must not notice. */
import assert from "node:assert/strict";
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

const groupSize = 4;
const groups = 5;

/** Creates healthy releases at the same time; resolves once all are ready, with the longest time that one took, in ms. */
async function readyAfter(group: string): Promise<number> {
  const names = Array.from({ length: groupSize }, (_, at) => `${group}-${at}`);
  const times = names.map(async (name) => {
    const start = performance.now();
    await create(name, "healthy");
    await workspace.waitUntilReady(name, "1.0.0", 1);
    return performance.now() - start;
  });
  return Math.max(...(await Promise.all(times)));
}

test("hostile charts fail with the limit that they exceed, and 20 healthy ones become ready beside them about as soon as alone", async (t) => {
  const aloneMs = await readyAfter("alone");
  // Generous: two cores may have five hostile processes. An agent that handles them one after the other takes longer.
  const limitMs = 10 * aloneMs + 20_000;

  await Promise.all(hostile.map(([{ name }]) => create(name, name)));
  const besideMs: number[] = [];
  for (let group = 0; group < groups; group += 1)
    besideMs.push(await readyAfter(`beside-${group}`));

  const inMs = (times: readonly number[]) => times.map((each) => Math.round(each)).join(", ");
  await t.annotate(`ready after ${inMs([aloneMs])} ms alone, ${inMs(besideMs)} ms beside`);
  for (const [{ name }, why] of hostile) await workspace.waitForMessage(name, why);
  assert.ok(Math.max(...besideMs) <= limitMs, `${inMs(besideMs)} ms, the limit is ${limitMs} ms`);
});
