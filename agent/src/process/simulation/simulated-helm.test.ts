import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { DeployPass, DeployResult } from "../../release/action/deploy-pass.ts";
import { testRelease } from "../../testing/index.ts";
import { createSimulatedHelm } from "./simulated-helm.ts";

const assignment = await testRelease("web");
const upgraded = await testRelease("web", { forceSyncGeneration: 1 });
const never = new AbortController().signal;

function setUp(options: { latencyMs?: number; failureRate?: number; random?: number } = {}) {
  const { latencyMs = 0, failureRate = 0, random = 0.5 } = options;
  const clock = createFakeClock();
  const helm = createSimulatedHelm(
    { latencyMs, failureRate },
    { clock, log: silentLog(), random: () => random },
  );
  const pass = (more: Partial<DeployPass> = {}): DeployPass => ({
    signal: never,
    superseded: never,
    withoutWorker: (wait) => wait(),
    began: () => undefined,
    readinessOf: () => undefined,
    retryAtMs: undefined,
    unmetDependencies: () => Promise.resolve(undefined),
    ...more,
  });
  return { clock, helm, pass };
}

function revisionOf(deployed: DeployResult | undefined): number | undefined {
  return deployed?.kind === "in-sync" ? deployed.release.revision : undefined;
}

describe("a simulated Helm", () => {
  test("installs, returns the installed release, upgrades to the next revision, and uninstalls", async () => {
    const { helm, pass } = setUp();
    assert.equal(await helm.installed(assignment, never), undefined);

    assert.equal(revisionOf(await helm.deploy(assignment, pass())), 1);
    assert.equal(revisionOf(await helm.deploy(assignment, pass())), 1, "the release is in sync");
    assert.equal(revisionOf(await helm.installed(assignment, never)), 1);
    assert.equal(revisionOf(await helm.deploy(upgraded, pass())), 2);

    await helm.withdraw(upgraded, never);
    assert.equal(await helm.installed(upgraded, never), undefined);
  });

  for (const [random, tookMs] of [
    [0, 50],
    [0.5, 100],
    [0.999, 149.9],
  ] as const) {
    test(`takes ${tookMs} ms at a latency of 100 ms with the random number ${random}`, async () => {
      const { clock, helm, pass } = setUp({ latencyMs: 100, random });

      const deploying = helm.deploy(assignment, pass());

      assert.equal(Math.round((await clock.timer()) * 10) / 10, tookMs);
      await clock.advance(tookMs + 1);
      assert.equal(revisionOf(await deploying), 1);
    });
  }

  for (const [random, failureRate, fails] of [
    [0, 0, false],
    [0.2, 0.25, true],
    [0.3, 0.25, false],
    [0.999, 1, true],
  ] as const) {
    test(`${fails ? "fails" : "succeeds"} at a failure rate of ${failureRate} with the random number ${random}`, async () => {
      const { helm, pass } = setUp({ failureRate, random });

      const code = await helm.deploy(assignment, pass()).then(
        () => undefined,
        (thrown: unknown) => AppError.from(thrown).code,
      );

      assert.equal(code, fails ? "HELM_FAILED" : undefined);
    });
  }

  test("waits for the time of the retry and for dependencies", async () => {
    const { clock, helm, pass } = setUp();
    const untilMs = clock.now() + 1_000;
    const unmet = { message: "waiting for the database", names: ["database"] };

    assert.deepEqual(await helm.deploy(assignment, pass({ retryAtMs: untilMs })), {
      kind: "wait",
      untilMs,
      why: "failed",
    });
    const unmetDependencies = () => Promise.resolve(unmet);
    assert.deepEqual(await helm.deploy(assignment, pass({ unmetDependencies })), {
      kind: "blocked",
      unmet,
    });
    assert.equal(await helm.installed(assignment, never), undefined);
  });

  test("is aborted when another content is desired", async () => {
    const { clock, helm, pass } = setUp({ latencyMs: 100 });
    const superseded = new AbortController();

    const deploying = helm.deploy(assignment, pass({ superseded: superseded.signal }));
    await clock.timer();
    superseded.abort();

    await assert.rejects(deploying);
    assert.equal(await helm.installed(assignment, never), undefined);
  });
});
