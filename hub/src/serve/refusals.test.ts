import assert from "node:assert/strict";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { Registry } from "prom-client";
import { test } from "vitest";
import { createRefusals } from "./refusals.ts";

test("every refusal is counted, and told once a minute for each sender and reason", async () => {
  const lines: string[] = [];
  const metrics = new Registry();
  const clock = createFakeClock();
  const log = Object.assign(silentLog(), {
    warn: (_: object, message: string) => void lines.push(message),
  });
  const refusals = createRefusals({ metrics, clock, log });
  const refuse = (who: string, reason: "broken" | "renewal") =>
    refusals.refused(who, { reason, fields: { cluster: who }, message: "refused" });

  for (let times = 0; times < 1_000; times += 1) refuse("fleet-default/paris", "broken");
  refuse("fleet-default/paris", "renewal");
  refuse("fleet-default/rome", "broken");
  assert.equal(lines.length, 3);
  await clock.advance(61_000);
  refuse("fleet-default/paris", "broken");

  assert.equal(lines.length, 4);
  const told = await metrics.getSingleMetricAsString("flotilla_hub_refused_total");
  assert.match(told, /reason="broken"\} 1002/);
  assert.match(told, /reason="renewal"\} 1$/m);
});

test("what the hub could not do is told once a minute for each Cluster, with why, and counted as no refusal", async () => {
  const lines: object[] = [];
  const metrics = new Registry();
  const clock = createFakeClock();
  const log = Object.assign(silentLog(), {
    warn: (fields: object, message: string) => void lines.push({ ...fields, message }),
  });
  const refusals = createRefusals({ metrics, clock, log });
  const failed = (cluster: string, thrown: Error): void =>
    refusals.failed(cluster, thrown, { fields: { cluster }, message: "not welcomed" });

  for (let times = 0; times < 100; times += 1)
    failed("fleet-default/paris", new Error("the API server is away"));
  failed("fleet-default/rome", new Error("no"));

  assert.deepEqual(lines, [
    { cluster: "fleet-default/paris", err: "the API server is away", message: "not welcomed" },
    { cluster: "fleet-default/rome", err: "no", message: "not welcomed" },
  ]);
  assert.doesNotMatch(
    await metrics.getSingleMetricAsString("flotilla_hub_refused_total"),
    /reason=/,
  );
});
