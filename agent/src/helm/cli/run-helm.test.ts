import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "vitest";
import {
  createRunHelm,
  type HelmProgram,
  type HelmResult,
  helmErrorOf,
  helmFailureOf,
  type RunHelm,
} from "./run-helm.ts";

/** A shell script in place of Helm. */
async function program(
  t: TestContext,
  script: string,
  options: Partial<HelmProgram> = {},
): Promise<RunHelm> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-helm-"));
  t.onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const path = join(dir, "helm");
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o700);
  const environment = { PATH: "/usr/bin:/bin", GIVEN: "given" };
  return createRunHelm({ path, environment, ...options });
}

/** Calls back when a process is recorded. */
function onStart(started: (pid: number) => void): Pick<HelmProgram, "records"> {
  return {
    records: {
      started: (pid) => Promise.resolve(started(pid)),
      ended: () => Promise.resolve(),
    },
  };
}

const { signal } = new AbortController();

describe("a run of Helm", () => {
  test("returns its output, its error and its exit code", async (t) => {
    const run = await program(t, 'echo "out $1 $GIVEN $HOME"; echo err >&2; exit 3');

    assert.deepEqual(await run({ args: ["arg"], signal }), {
      code: 3,
      stdout: "out arg given \n",
      stderr: "err\n",
    });
  });

  test("has an environment of its own besides that of the program", async (t) => {
    const run = await program(t, 'echo "$GIVEN $MORE"');

    const { stdout } = await run({ args: [], environment: { MORE: "more" }, signal });

    assert.equal(stdout, "given more\n");
    assert.equal((await run({ args: [], signal })).stdout, "given \n");
  });

  test("has a sentence for a right that is missing, with what grants it to the agent", async (t) => {
    const dir = await mkdtemp(join(tmpdir(), "flotilla-helm-"));
    t.onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const path = join(dir, "helm");
    const denial = (verb: string, user: string): string =>
      `serviceaccounts "x" is forbidden: User "${user}" cannot ${verb} resource "serviceaccounts" in API group "" in the namespace "a"`;
    const script = [denial("get", "system:serviceaccount:a:x"), denial("impersonate", "agent")];
    await writeFile(path, `#!/bin/sh\ncat >&2 <<'END'\n${script.join("\n")}\nEND\n`);
    await chmod(path, 0o700);
    const environment = { PATH: "/usr/bin:/bin" };
    const grantOf = () => ({ chart: "flotilla-agent", value: "impersonation.namespaces" });
    const run = createRunHelm({ path, environment, grantOf });

    const { stderr } = await run({ args: ["--kube-as-user=system:serviceaccount:a:x"], signal });

    assert.deepEqual(stderr.trim().split("\n"), [
      'service account a/x may not get serviceaccounts "x" of API group "" in namespace a',
      'user "agent" may not impersonate serviceaccounts "x" of API group "" in namespace a; the value impersonation.namespaces of the chart flotilla-agent grants it',
    ]);
  });

  test("gets its standard input, and may ignore it", async (t) => {
    const reads = await program(t, "cat");
    const ignores = await program(t, "exit 0");
    const stdin = "x".repeat(1_000_000);

    assert.equal((await reads({ args: [], stdin, signal })).stdout, stdin);
    assert.equal((await ignores({ args: [], stdin, signal })).code, 0);
  });

  test.runIf(process.platform === "linux")(
    "has the whole of its input when it starts, whatever happens to the agent, in a file without a name",
    async (t) => {
      const run = await program(
        t,
        "stat --dereference --format='%F of %s' /proc/self/fd/0; stat --format=%N /proc/self/fd/0",
      );

      const { stdout } = await run({ args: [], stdin: "x".repeat(1_000_000), signal });

      assert.match(stdout, /^regular file of 1000000\n.* \(deleted\)'\n$/);
    },
  );

  test("decodes characters that are split between chunks", async (t) => {
    const run = await program(t, "printf 'Fehler: \\303' >&2; sleep 0.05; printf '\\274bel' >&2");

    assert.equal((await run({ args: [], signal })).stderr, "Fehler: übel");
  });

  test("leads a process group, and is recorded until its result is returned", async (t) => {
    const recorded: string[] = [];
    const run = await program(t, "echo $$; ps -o pgid= -p $$", {
      records: {
        started: (pid) => Promise.resolve(void recorded.push(`started ${pid}`)),
        ended: (pid) => Promise.resolve(void recorded.push(`ended ${pid}`)),
      },
    });

    const { stdout } = await run({ args: [], signal });

    const [pid, group] = stdout.trim().split(/\s+/);
    assert.equal(group, pid);
    assert.deepEqual(recorded, [`started ${pid}`, `ended ${pid}`]);
  });

  test("is killed without time to end when Helm may not run any longer", async (t) => {
    const forbidden = new AbortController();
    const run = await program(t, "trap '' TERM; sleep 600 & wait", {
      graceMs: 600_000,
      forbidden: forbidden.signal,
      ...onStart(() => forbidden.abort()),
    });

    const result = await run({ args: [], signal: forbidden.signal });

    assert.equal(result.code, null);
  });

  test("is not started while Helm may not run", async () => {
    const run = createRunHelm({
      path: "/nowhere/helm",
      environment: {},
      assertAllowed: () => {
        throw new Error("not the leader");
      },
    });

    await assert.rejects(run({ args: [], signal }), /not the leader/);
  });

  test("is terminated with all its children when it is aborted", async (t) => {
    const ending = new AbortController();
    const run = await program(
      t,
      "sleep 600 & wait",
      onStart(() => ending.abort()),
    );

    const result = await run({ args: [], signal: ending.signal });

    // It ends only when its output is closed, by `sleep` too.
    assert.equal(result.code, null);
  });

  test("is killed if it does not end within the grace period", async (t) => {
    const ending = new AbortController();
    const run = await program(t, "trap 'echo no >&2' TERM; while :; do sleep 0.01; done", {
      graceMs: 100,
      ...onStart(() => ending.abort()),
    });

    const result = await run({ args: [], signal: ending.signal });

    assert.equal(result.code, null);
  });

  test("that was aborted before it started is terminated at once", async (t) => {
    const run = await program(t, "sleep 600");

    assert.equal((await run({ args: [], signal: AbortSignal.abort() })).code, null);
  });

  test("names the program that could not be started", async () => {
    const run = createRunHelm({ path: "/nowhere/helm", environment: {} });

    await assert.rejects(run({ args: [], signal }), /run \/nowhere\/helm: .*ENOENT/);
  });
});

test("the failure of a Helm run has Helm's error and then what it has logged", () => {
  const stderr = 'level=WARN msg="hook web/migrate failed"\nError: UPGRADE FAILED: no';

  assert.equal(
    helmFailureOf({ code: 1, stdout: "", stderr }),
    "UPGRADE FAILED: no; Helm logged: hook web/migrate failed",
  );
  assert.equal(helmFailureOf({ code: 1, stdout: "", stderr: "Error: no" }), "no");
});

describe("the error of a Helm run", () => {
  const cases: readonly (readonly [string, Partial<HelmResult>, string])[] = [
    [
      "is the line that begins with Error",
      { stderr: "Error: UPGRADE FAILED: no\n" },
      "UPGRADE FAILED: no",
    ],
    [
      "does not include warnings and logs",
      {
        stderr:
          'WARNING: Kubernetes configuration file is group-readable\ntime=1 msg=x\nlevel=INFO msg="y"\nW0101 00:00:00 warn\nError: it broke\n',
      },
      "it broke",
    ],
    [
      "includes the lines after it, as one line",
      {
        stderr:
          "Error: values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n- at '/replicas': got string, want integer\n\n",
      },
      "values don't meet the specifications of the schema(s) in the following chart(s):; web:; - at '/replicas': got string, want integer",
    ],
    [
      "is the last of several lines that begin with Error",
      { stderr: "Error: first\nError: second\n" },
      "second",
    ],
    [
      "is the last line if none begins with Error",
      { stderr: "panic: oh\nexit status 2\n" },
      "exit status 2",
    ],
    [
      "is the exit code if Helm prints nothing",
      { code: 7 },
      "helm exited with code 7 and printed no error",
    ],
    [
      "has no exit code if a signal ended Helm",
      { code: null },
      "helm exited with code none and printed no error",
    ],
  ];
  for (const [name, result, expected] of cases) {
    test(name, () =>
      assert.equal(helmErrorOf({ code: 1, stdout: "", stderr: "", ...result }), expected),
    );
  }

  test("is truncated", () => {
    const stderr = `Error: ${"x".repeat(10_000)}`;

    assert.equal(helmErrorOf({ code: 1, stdout: "", stderr }).length, 4_000);
  });
});
