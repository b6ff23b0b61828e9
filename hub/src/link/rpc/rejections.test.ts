import assert from "node:assert/strict";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { test } from "vitest";
import { createRejections } from "./rejections.ts";

test("counts every rejection, and logs it once a minute for each peer and reason", async () => {
  const lines: string[] = [];
  const metrics = new Registry();
  const clock = createFakeClock();
  const log = Object.assign(silentLog(), {
    warn: (_: object, message: string) => void lines.push(message),
  });
  const rejections = createRejections({ metrics, clock, log });
  const reject = (who: string, reason: "protocol_violation" | "renewal_rate") =>
    rejections.rejected(who, { reason, fields: { cluster: who }, message: "connection refused" });

  for (let times = 0; times < 1_000; times += 1)
    reject("fleet-default/paris", "protocol_violation");
  reject("fleet-default/paris", "renewal_rate");
  reject("fleet-default/rome", "protocol_violation");
  assert.equal(lines.length, 3);
  await clock.advance(61_000);
  reject("fleet-default/paris", "protocol_violation");

  assert.equal(lines.length, 4);
  const counted = await metrics.getSingleMetricAsString("flotilla_hub_rejected_total");
  assert.match(counted, /reason="protocol_violation"\} 1002/);
  assert.match(counted, /reason="renewal_rate"\} 1$/m);
});

test("logs a failure of the hub once a minute for each Cluster, and does not count it as a rejection", async () => {
  const lines: object[] = [];
  const metrics = new Registry();
  const clock = createFakeClock();
  const log = Object.assign(silentLog(), {
    warn: (fields: object, message: string) => void lines.push({ ...fields, message }),
  });
  const rejections = createRejections({ metrics, clock, log });
  const failed = (cluster: string, thrown: Error): void =>
    rejections.failed(cluster, thrown, { fields: { cluster }, message: "registration failed" });

  for (let times = 0; times < 100; times += 1)
    failed("fleet-default/paris", new Error("the API server is unavailable"));
  failed("fleet-default/rome", new Error("no"));

  assert.deepEqual(lines, [
    {
      cluster: "fleet-default/paris",
      err: "the API server is unavailable",
      message: "registration failed",
    },
    { cluster: "fleet-default/rome", err: "no", message: "registration failed" },
  ]);
  assert.doesNotMatch(
    await metrics.getSingleMetricAsString("flotilla_hub_rejected_total"),
    /reason=/,
  );
});
