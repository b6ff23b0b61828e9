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
/** At least. */
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

test("hostile charts fail with the limit that they exceed, and healthy ones become ready beside them about as soon as alone", async (t) => {
  // The first ones are slower: nothing is in a cache yet.
  await readyAfter("first");
  const aloneMs = await readyAfter("alone");
  // Generous, since they share the processors with hostile processes, but less than what one of these may take until it is ended.
  const limitMs = 10 * aloneMs + 20_000;

  await Promise.all(hostile.map(([{ name }]) => create(name, name)));
  const besideMs: number[] = [];
  const readyBeside = async () => void besideMs.push(await readyAfter(`beside-${besideMs.length}`));
  while (besideMs.length < groups) await readyBeside();
  // From now on, since a hostile process may take as long as the wait for its message.
  const failing = hostile.map(([{ name }, why]) => workspace.waitForMessage(name, why));
  let areHandled = false;
  const handled = Promise.allSettled(failing).then(() => {
    areHandled = true;
  });
  while (!areHandled) await readyBeside();
  await handled;

  const longestMs = Math.max(...besideMs);
  const times = `${Math.round(aloneMs)} ms alone, at most ${Math.round(longestMs)} ms beside`;
  await t.annotate(`ready after ${times}, in ${besideMs.length} groups`);
  assert.ok(longestMs <= limitMs, `ready after ${times}; the limit is ${Math.round(limitMs)} ms`);
  await Promise.all(failing);
});
