import assert from "node:assert/strict";
import { test } from "vitest";
import { settle } from "../time/testing/index.ts";
import { NextRun } from "./next-run.ts";

function start() {
  const runs: PromiseWithResolvers<void>[] = [];
  const next = new NextRun(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  return { runs, next };
}

test("callers of the same time share a run", async () => {
  const { runs, next } = start();
  const both = Promise.all([next.run(), next.run()]);
  await settle();
  runs[0]?.resolve();
  await both;

  assert.equal(runs.length, 1);
});

test("a caller during a run gets the one after it, also when the first fails", async () => {
  const { runs, next } = start();
  const first = next.run();
  await settle();
  const later = Promise.all([next.run(), next.run()]);
  await settle();
  assert.equal(runs.length, 1);

  runs[0]?.reject(new Error("no connection"));
  await assert.rejects(first, /no connection/);
  await settle();
  assert.equal(runs.length, 2);
  runs[1]?.resolve();
  await later;
});
