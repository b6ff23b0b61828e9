/** With scripts in place of the launcher and of the program. What the launcher itself denies: e2e/src/agent/kustomize-attacks.test.ts. */
import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "vitest";
import { runInSandbox, type SandboxResult } from "./run-in-sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

interface Folders {
  /** The path of a script. */
  script(code: string): Promise<string>;
  run(sandbox: Sandbox, program: string): Promise<SandboxResult>;
  /** What is left of the run. */
  left(): Promise<readonly string[]>;
}

async function folders(t: TestContext): Promise<Folders> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-sandbox-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  const [tree, parent] = [join(dir, "tree"), join(dir, "runs")] as const;
  await mkdir(tree);
  await mkdir(parent);
  return {
    async script(code) {
      const path = join(dir, "script");
      await writeFile(path, `#!/bin/sh\n${code}\n`);
      await chmod(path, 0o700);
      return path;
    },
    async run(sandbox, program) {
      const environment = { PATH: "/usr/bin:/bin", A: "b" };
      const run = { program, args: ["build", "."], tree, parent, environment };
      const result = await runInSandbox(sandbox, run);
      return JSON.parse(JSON.stringify(result).replaceAll(dir, "DIR")) as SandboxResult;
    },
    left: () => readdir(parent),
  };
}

const unconfined = { kind: "unconfined" } as const;
const confined = (launcher: string): Sandbox => ({ kind: "confined", launcher, abi: 6 });

describe("a program in the sandbox", () => {
  test("is started by the launcher, reads its tree, writes its home, executes nothing and connects to nothing", async (t) => {
    const { script, run, left } = await folders(t);
    const launcher = await script('echo "$*" | sed "s/home-....../HOME/"');

    assert.deepEqual(await run(confined(launcher), "kustomize"), {
      kind: "ended",
      stdout: "--abi=6 --read=DIR/tree --write=DIR/runs/HOME -- kustomize build .\n",
      stderr: "",
      code: 0,
    });
    assert.deepEqual(await left(), []);
  });

  test("has its tree as working directory, an empty home and no variables but the named ones", async (t) => {
    const { script, run } = await folders(t);
    const program = await script(
      'pwd; ls -A "$HOME" | wc -l; [ "$HOME" = "$TMPDIR" ] && env | cut -d= -f1 | grep -Ev "^(_|PWD|OLDPWD|SHLVL)$" | sort | xargs',
    );

    const result = await run(unconfined, program);

    assert.equal("stdout" in result && result.stdout, "DIR/tree\n0\nA HOME PATH TMPDIR\n");
  });

  const endings: readonly (readonly [string, string, string | undefined])[] = [
    ["exits with 0", "exit 0", undefined],
    ["exits with another code", "exit 3", "ended with code 3"],
    ["is killed", "kill -9 $$", "ended with SIGKILL"],
  ];
  for (const [what, code, failure] of endings)
    test(`that ${what} ${failure === undefined ? "succeeds" : "fails"}, and its home is deleted`, async (t) => {
      const { script, run, left } = await folders(t);
      const result = await run(
        unconfined,
        await script(`touch "$HOME/a"; echo out; echo err >&2; ${code}`),
      );

      assert.equal(result.kind === "ended" && result.failure, failure);
      assert.deepEqual([result.kind === "ended" && result.stdout, await left()], ["out\n", []]);
    });

  const unstarted: readonly (readonly [number, string])[] = [
    [124, "allow /none: no such file or directory"],
    [126, "start /none: no such file or directory"],
  ];
  for (const [code, why] of unstarted)
    test(`is not started if the launcher ends with ${code}, for the reason that it prints`, async (t) => {
      const { script, run } = await folders(t);
      const launcher = await script(`echo "confine: ${why}" >&2; exit ${code}`);

      assert.deepEqual(await run(confined(launcher), "/none"), { kind: "not-started", why });
    });

  test("is not started without the launcher", async (t) => {
    const { run } = await folders(t);

    const why = "the launcher of the sandbox: spawn /no/confine ENOENT";
    assert.deepEqual(await run(confined("/no/confine"), "/bin/true"), { kind: "not-started", why });
  });

  test("is refused where the kernel has less than was decided", async (t) => {
    const { script, run, left } = await folders(t);
    const launcher = await script('echo "confine: the kernel has ABI 3" >&2; exit 125');

    await assert.rejects(run(confined(launcher), "/bin/true"), {
      code: "SANDBOX_UNAVAILABLE",
      message: "start the sandbox: the kernel has ABI 3",
    });
    assert.deepEqual(await left(), []);
  });

  test("is refused where less than the least was found", async (t) => {
    const { run } = await folders(t);

    await assert.rejects(run({ kind: "refused", why: "kernel 5.4.0 has ABI 3" }, "/bin/true"), {
      code: "SANDBOX_UNAVAILABLE",
      message: "run /bin/true: kernel 5.4.0 has ABI 3",
    });
  });
});
