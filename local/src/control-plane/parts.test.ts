import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { testDir } from "../testing/index.ts";
import { controlPlaneTools } from "./control-plane.ts";
import { createParts } from "./parts.ts";

for (const { script, why, starts } of [
  { script: "exit 2", why: "crashes", starts: 6 },
  { script: "kill -TERM $$", why: "is ended by a signal", starts: 1 },
  { script: "exit 1", why: "handles a signal", starts: 1 },
  { script: "exit 0", why: "has nothing more to do", starts: 1 },
])
  test(`a part that ${why} is started ${starts === 1 ? "once" : `${starts} times`}`, async (t) => {
    const parts = createParts({
      name: "test",
      dir: await testDir(t),
      workloads: true,
      binaries: Object.fromEntries(controlPlaneTools.map((tool) => [tool, "/bin/sh"])) as Record<
        (typeof controlPlaneTools)[number],
        string
      >,
    });
    let prepared = 0;
    await parts.start("kwok", ["-c", script], () => {
      prepared++;
      return Promise.resolve();
    });

    // Until it has ended for good.
    await expect(parts.whileAlive(() => new Promise(() => undefined))).rejects.toThrow(
      /^kwok of test (exited with code [012]|was ended by SIGTERM);/,
    );

    assert.equal(prepared, starts);
  });
