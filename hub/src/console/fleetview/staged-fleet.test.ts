import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { aSchedule, workspace } from "../../testing/index.ts";
import { aRollout, at, board, message, rest, setUp } from "./testing/staged-app.ts";

describe("the fleet", () => {
  const everything = { key: "all", sees: () => true };
  const without = (kind: string) => ({ key: kind, sees: (each: string) => each !== kind });

  test("has apps whose rollout waits for a decision, for those who may see BundleRollouts", () => {
    const { view } = setUp();

    const [seen] = view.fleet(everything).apps;
    assert.deepEqual(
      [seen?.isStaged, seen?.rollout?.decides, seen?.rollout?.message, seen?.rollout?.since],
      [true, true, message, at],
    );
    const [hidden] = view.fleet(without("BundleRollout")).apps;
    assert.deepEqual([hidden?.isStaged, hidden?.rollout], [undefined, undefined]);
  });

  test("needs no decision about a rollout that goes on by itself, or has ended", () => {
    const decides = (status: Parameters<typeof aRollout>[1]) =>
      setUp([aRollout(7, status)]).view.fleet(everything).apps[0]?.rollout?.decides;
    const soaking = { ...rest, gates: [{ ...board, type: "Soak" }] } as const;

    assert.equal(decides({ stages: [soaking] }), false);
    assert.equal(decides({ phase: "Progressing" }), false);
    assert.equal(decides({ phase: "Halted" }), true);
    assert.equal(decides({ phase: "Completed", reason: "AllStagesCompleted" }), undefined);
  });

  test("needs a decision where clusters came late to one that is completed", () => {
    const { view } = setUp([aRollout(7, { phase: "Completed", reason: "GateWaiting" })]);

    assert.equal(view.fleet(everything).apps[0]?.rollout?.decides, true);
  });

  test("changes with rollouts, Gates and Schedules", () => {
    const { view, rollouts, gates, schedules } = setUp();
    const typesAfter = (
      change: () => void,
      scope: Parameters<typeof view.fleet>[0] = everything,
    ) => {
      const { position } = view;
      change();
      return view.changesSince(position, scope)?.map(({ type }) => type);
    };

    const halted = aRollout(7, { phase: "Halted" });
    const newer = { ...halted, metadata: { ...halted.metadata, resourceVersion: "2" } };
    assert.deepEqual(
      typesAfter(() => rollouts.saw(newer)),
      ["app"],
    );
    assert.deepEqual(
      typesAfter(() => gates.missed(`${workspace}/web-7-rest-board`)),
      ["app"],
    );
    assert.deepEqual(
      typesAfter(() => schedules.saw(aSchedule("nights"))),
      ["schedules"],
    );
    assert.deepEqual(
      typesAfter(() => schedules.saw(aSchedule("days")), without("Schedule")),
      [],
    );
  });
});
