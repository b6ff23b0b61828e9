import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { release, tmpdir } from "node:os";
import { join } from "node:path";
import { lineLog } from "@flotilla/shared/log";
import { describe, type TestContext, test } from "vitest";
import type { Sandbox } from "../run/index.ts";
import type { SandboxLevel } from "./decide-sandbox.ts";
import { openSandbox } from "./open-sandbox.ts";

interface Opened {
  readonly sandbox: Sandbox;
  /** The lines of the log. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

/** With a script in place of the launcher. */
async function open(t: TestContext, code: string, least: SandboxLevel): Promise<Opened> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-sandbox-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "confine"), `#!/bin/sh\n[ "$*" = --print-abi ] && ${code}\n`);
  await chmod(join(dir, "confine"), 0o700);
  const logged: Record<string, unknown>[] = [];
  const write = (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>);
  const log = lineLog({ name: "agent", level: "debug", write });
  const environment = { PATH: `${dir}:/usr/bin:/bin` };
  const options = { launcher: "confine", environment, program: "kustomize", least, log };
  return { sandbox: await openSandbox(options), logged };
}

describe("the sandbox", () => {
  test("has the rules of the kernel, and nothing is logged if none is missing", async (t) => {
    assert.deepEqual(await open(t, "echo 7", "Unconfined"), {
      sandbox: { kind: "confined", launcher: "confine", abi: 7 },
      logged: [],
    });
  });

  test("is incomplete on an older kernel, which one warning says", async (t) => {
    const { sandbox, logged } = await open(t, "echo 5", "Unconfined");

    assert.deepEqual(sandbox, { kind: "confined", launcher: "confine", abi: 5 });
    const missing = ["send signals to processes of the user of the agent"];
    assert.deepEqual(
      logged.map(({ level, program, kernel, abi, missing }) => [
        level,
        program,
        kernel,
        abi,
        missing,
      ]),
      [["warn", "kustomize", release(), 5, missing]],
    );
  });

  const without: readonly (readonly [string, string, RegExp])[] = [
    ["the kernel has no Landlock", "{ echo 0; echo 'switched off' >&2; }", /^switched off$/],
    ["the launcher cannot be run", "exit 1", /^the launcher could not be run: .*--confine$/s],
    ["the launcher is another program", "echo usage", /^the launcher confine printed no number$/],
    ["the launcher prints nothing", "true", /^the launcher confine printed no number$/],
  ];
  for (const [what, code, reason] of without) {
    test(`is missing if ${what}, which one warning says with the reason`, async (t) => {
      const { sandbox, logged } = await open(t, code, "Unconfined");

      assert.deepEqual(sandbox, { kind: "unconfined" });
      assert.deepEqual(
        logged.map(({ level, abi }) => [level, abi]),
        [["warn", 0]],
      );
      assert.match(String(logged[0]?.["reason"]), reason);
    });

    test(`is refused if ${what}, where rules for files are needed`, async (t) => {
      const { sandbox, logged } = await open(t, code, "FilesOnly");

      assert.deepEqual([sandbox.kind, logged], ["refused", []]);
    });
  }
});
