import assert from "node:assert/strict";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock, settle } from "@flotilla/shared/time/testing/fake-clock.ts";
import { Registry } from "prom-client";
import { test } from "vitest";
import { createRefusals } from "../serve/refusals.ts";
import { aDeployment } from "../testing/objects.ts";
import { deployed } from "../testing/reports.ts";
import { createHandoutMetrics } from "./metrics.ts";
import { createReportIntake } from "./report-intake.ts";

/** An intake whose answers wait until they are said, the latest of each name. */
function start() {
  const metrics = new Registry();
  const log = silentLog();
  const clock = createFakeClock();
  const waiting = new Map<string, () => void>();
  const held = new Set<string>();
  const known = new Set(["web"]);
  const kept: string[] = [];
  const release = Promise.withResolvers<void>();
  const intake = createReportIntake({
    cluster: {
      namespace: "fleet-default",
      name: "paris",
      uid: "uid-paris",
      deploymentsNamespace: "cluster-paris",
    },
    wanted: (name) => (known.has(name) ? aDeployment("paris") : undefined),
    isHeld: (name) => name === "held",
    sink: {
      report(_, __, { name }) {
        kept.push(name);
        return release.promise;
      },
      withdrawn: () => Promise.resolve(),
    },
    metrics: createHandoutMetrics(metrics),
    refusals: createRefusals({ metrics, clock, log }),
    log,
    acknowledge: (name, _, onSaid) => void waiting.set(name, onSaid),
    released: () => undefined,
    onFull: () => held.add("reports"),
    onRoom: () => held.delete("reports"),
    onUnread: () => held.add("answers"),
    onRead: () => held.delete("answers"),
    onFailed: (thrown) => assert.fail(String(thrown)),
  });
  return {
    intake,
    known,
    waiting,
    held,
    kept,
    release: release.resolve,
    foreign: (name: string, sequence: number) =>
      intake.state({ epoch: 1, sequence }, deployed({ name, uid: "u" })),
    sayAll() {
      for (const [name, said] of waiting) {
        waiting.delete(name);
        said();
      }
    },
  };
}

test("an agent that makes up names and reads no answers is read no more after some hundred", () => {
  const { foreign, held, waiting, kept, sayAll } = start();
  let made = 0;

  while (!held.has("answers") && made < 10_000) foreign(`made-${made++}`, made);
  assert.ok(made < 300, `${made} names are remembered`);
  assert.equal(waiting.size, made);
  sayAll();

  assert.equal(held.size, 0);
  assert.deepEqual(kept, []);
});

test("an agent that says the same wrong thing again and again is read on, for one answer waits", () => {
  const { foreign, held, waiting } = start();

  for (let sequence = 1; sequence <= 10_000; sequence += 1) foreign("other", sequence);

  assert.equal(waiting.size, 1);
  assert.equal(held.size, 0);
});

test("an agent whose reports cannot be kept as fast as it says them is read no more until they are", async () => {
  const { intake, held, kept, release } = start();
  let said = 0;

  while (!held.has("reports") && said < 10_000)
    intake.state({ epoch: 1, sequence: said++ }, deployed());
  assert.ok(kept.length < 300, `${kept.length} reports are on their way`);
  release();
  await settle();

  assert.equal(held.size, 0);
});

test("a report on what the agent has and this replica does not know is not acknowledged, and missed once it knows", () => {
  const { intake, known, waiting, foreign } = start();
  const uid = aDeployment("paris").metadata.uid ?? "";
  intake.state({ epoch: 1, sequence: 1 }, deployed({ name: "held", uid }));
  foreign("made-up", 2);

  assert.deepEqual([...waiting.keys()], ["made-up"]);
  assert.equal(intake.hasMissed("held"), false);
  known.add("held").add("made-up");

  assert.equal(intake.hasMissed("held"), true);
  assert.equal(intake.hasMissed("made-up"), false);
});

test("a report on an earlier deployment of the name is not missed", () => {
  const { intake, known } = start();
  intake.state({ epoch: 1, sequence: 1 }, deployed({ name: "held", uid: "uid-earlier" }));

  known.add("held");

  assert.equal(intake.hasMissed("held"), false);
});
