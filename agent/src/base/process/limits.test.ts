import assert from "node:assert/strict";
import { exceededLimit, largestOverTotal } from "@flotilla/shared/process";
import { describe, test } from "vitest";
import { limitsWithChildren, processLimits } from "./limits.ts";

const MiB = 1024 * 1024;

describe("the limits of an agent's processes", () => {
  const cases: readonly (readonly [
    container: number,
    helm: number,
    reader: number,
    total: number,
  ])[] = [
    [256, 128, 128, 128],
    [512, 320, 320, 320],
    [1024, 832, 512, 832],
    [8192, 1024, 512, 8000],
  ];
  for (const [container, helm, reader, total] of cases)
    test(`leave room for the agent in a container of ${container} MiB`, () => {
      const limits = processLimits(container * MiB);

      assert.deepEqual(
        [limits.helm.memoryBytes, limits.reader.memoryBytes, limits.totalBytes],
        [helm * MiB, reader * MiB, total * MiB],
      );
    });

  test("are exceeded by memory or by processor time", () => {
    const limits = { memoryBytes: 100 * MiB, cpuMs: 5_000, fullPriorityCpuMs: 200 };

    assert.equal(exceededLimit({ memoryBytes: 100 * MiB, cpuMs: 5_000 }, limits), undefined);
    assert.equal(
      exceededLimit({ memoryBytes: 101 * MiB, cpuMs: 0 }, limits),
      "used more than 100 MiB of memory",
    );
    assert.equal(
      exceededLimit({ memoryBytes: 0, cpuMs: 5_010 }, limits),
      "used more than 5 s of processor time",
    );
  });

  test("of a process that starts others cover these, and it is slow later", () => {
    const { helm } = processLimits(1024 * MiB);

    assert.deepEqual(limitsWithChildren(helm), {
      ...helm,
      withChildren: true,
      fullPriorityCpuMs: 600,
    });
  });

  test("are exceeded by the largest process if all of them together use too much", () => {
    const processes = [3, 5, 4].map((memoryBytes) => ({ memoryBytes, cpuMs: 0 }));

    assert.equal(largestOverTotal(processes, 12), undefined);
    assert.equal(largestOverTotal(processes, 11), processes[1]);
  });
});
