import assert from "node:assert/strict";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { test } from "vitest";
import { createRejections } from "./rejections.ts";

test("every rejection is counted, and logged once a minute for each peer and reason", async () => {
  const lines: string[] = [];
  const metrics = new Registry();
  const clock = createFakeClock();
  const log = Object.assign(silentLog(), {
    warn: (_: object, message: string) => void lines.push(message),
  });
  const refusals = createRejections({ metrics, clock, log });
  const refuse = (who: string, reason: "protocol_violation" | "renewal_rate") =>
    refusals.rejected(who, { reason, fields: { cluster: who }, message: "refused" });

  for (let times = 0; times < 1_000; times += 1)
    refuse("fleet-default/paris", "protocol_violation");
  refuse("fleet-default/paris", "renewal_rate");
  refuse("fleet-default/rome", "protocol_violation");
  assert.equal(lines.length, 3);
  await clock.advance(61_000);
  refuse("fleet-default/paris", "protocol_violation");

  assert.equal(lines.length, 4);
  const told = await metrics.getSingleMetricAsString("flotilla_hub_rejected_total");
  assert.match(told, /reason="protocol_violation"\} 1002/);
  assert.match(told, /reason="renewal_rate"\} 1$/m);
});

test("a failure of the hub is logged once a minute for each Cluster, and not counted as a rejection", async () => {
  const lines: object[] = [];
  const metrics = new Registry();
  const clock = createFakeClock();
  const log = Object.assign(silentLog(), {
    warn: (fields: object, message: string) => void lines.push({ ...fields, message }),
  });
  const refusals = createRejections({ metrics, clock, log });
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
    await metrics.getSingleMetricAsString("flotilla_hub_rejected_total"),
    /reason=/,
  );
});
