import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, test } from "vitest";
import type { Deployed, DeployPass } from "../engine/deployer.ts";
import { heldAs } from "../testing/held-as.ts";
import { createSimulatedHelm } from "./simulated-helm.ts";

const held = await heldAs("web");
const upgraded = await heldAs("web", { forceSyncGeneration: 1 });
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
    aside: (wait) => wait(),
    retryAtMs: undefined,
    hindranceOf: () => Promise.resolve(undefined),
    ...more,
  });
  return { clock, helm, pass };
}

function revisionOf(deployed: Deployed | undefined): number | undefined {
  return deployed?.kind === "in-sync" ? deployed.release.revision : undefined;
}

describe("a simulated Helm", () => {
  test("installs, knows what is installed, and upgrades to the next revision", async () => {
    const { helm, pass } = setUp();
    assert.equal(await helm.installed(held, never), undefined);

    assert.equal(revisionOf(await helm.deploy(held, pass())), 1);
    assert.equal(revisionOf(await helm.deploy(held, pass())), 1, "nothing is to be done");
    assert.equal(revisionOf(await helm.installed(held, never)), 1);
    assert.equal(revisionOf(await helm.deploy(upgraded, pass())), 2);

    await helm.withdraw(upgraded, never);
    assert.equal(await helm.installed(upgraded, never), undefined);
  });

  for (const [random, tookMs] of [
    [0, 50],
    [0.5, 100],
    [0.999, 149.9],
  ] as const) {
    test(`takes ${tookMs} ms of 100 where the die shows ${random}`, async () => {
      const { clock, helm, pass } = setUp({ latencyMs: 100, random });

      const deploying = helm.deploy(held, pass());

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
    test(`${fails ? "fails" : "works"} at a rate of ${failureRate} where the die shows ${random}`, async () => {
      const { helm, pass } = setUp({ failureRate, random });

      const code = await helm.deploy(held, pass()).then(
        () => undefined,
        (thrown: unknown) => AppError.from(thrown).code,
      );

      assert.equal(code, fails ? "HELM_FAILED" : undefined);
    });
  }

  test("waits out the time after a failure, and for what a deployment depends on", async () => {
    const { clock, helm, pass } = setUp();
    const untilMs = clock.now() + 1_000;
    const hindrance = { message: "waits for the database", names: ["database"] };

    assert.deepEqual(await helm.deploy(held, pass({ retryAtMs: untilMs })), {
      kind: "wait",
      untilMs,
      why: "failed",
    });
    const hindranceOf = () => Promise.resolve(hindrance);
    assert.deepEqual(await helm.deploy(held, pass({ hindranceOf })), {
      kind: "hindered",
      hindrance,
    });
    assert.equal(await helm.installed(held, never), undefined);
  });

  test("is given up when something newer is wanted", async () => {
    const { clock, helm, pass } = setUp({ latencyMs: 100 });
    const superseded = new AbortController();

    const deploying = helm.deploy(held, pass({ superseded: superseded.signal }));
    await clock.timer();
    superseded.abort();

    await assert.rejects(deploying);
    assert.equal(await helm.installed(held, never), undefined);
  });
});
