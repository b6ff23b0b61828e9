import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, type TestContext, test } from "vitest";
import type { HelmResult, RunHelm } from "../cli/run-helm.ts";
import { createPostRenderers } from "./post-renderers.ts";
import { readRelease, readRendering, writeRenderError, writeUnreadable } from "./rendering.ts";

type HelmRun = Parameters<RunHelm>[0];

const { signal } = new AbortController();
const content = {
  ...plainContent,
  commonMetadata: { labels: { password: "hidden" } },
  postRenderers: [{ images: [{ name: "a", newTag: "2" }] }],
};
const sandbox = { kind: "confined", launcher: "/bin/confine", abi: 6 } as const;
const ok = { code: 0, stdout: "printed", stderr: "" };

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-postrender-"));
  t.onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Runs Helm with post-renderers; `helm` gets its run, and the folder of the run. */
async function runWith(
  dir: string,
  helm: (run: HelmRun, folder: string) => Promise<HelmResult>,
): Promise<HelmResult> {
  const kustomize = { path: "/bin/kustomize", environment: { PATH: "/bin" }, sandbox };
  const pluginEnvironment = { NODE_COMPILE_CACHE: "/cache" };
  const withPostRenderers = createPostRenderers({ kustomize, pluginEnvironment, dir });
  const run = withPostRenderers(content, async (each) => {
    return await helm(each, each.environment?.["FLOTILLA_POST_RENDERER_RUN"] ?? "");
  });
  return await run({ args: ["upgrade", "--", "web"], stdin: "{}", signal });
}

test("a content that changes nothing runs Helm as it is, and writes nothing", async (t) => {
  const dir = await folder(t);
  const runHelm = () => Promise.resolve(ok);
  const kustomize = { path: "/bin/kustomize", environment: {}, sandbox };

  const withPostRenderers = createPostRenderers({ kustomize, pluginEnvironment: {}, dir });

  assert.equal(withPostRenderers(plainContent, runHelm), runHelm);
  assert.deepEqual(await readdir(dir), []);
});

test("Helm gets the plugin, and the plugin a file that only the agent's user can read", async (t) => {
  const dir = await folder(t);
  let seen: HelmRun | undefined;
  const result = await runWith(dir, async (run, own) => {
    seen = run;
    const files = await readdir(own);
    assert.deepEqual(files, ["rendering.json"]);
    assert.equal((await stat(own)).mode & 0o777, 0o700);
    assert.equal((await stat(join(own, "rendering.json"))).mode & 0o777, 0o600);
    const { kustomize, steps } = await readRendering(own);
    assert.equal(kustomize.path, "/bin/kustomize");
    assert.deepEqual(kustomize.sandbox, sandbox);
    assert.deepEqual(Object.keys(kustomize.environment).sort(), ["GOGC", "GOMEMLIMIT", "PATH"]);
    assert.deepEqual(
      steps.map(({ field }) => field),
      ["postRenderers[0]", "commonMetadata"],
    );
    return ok;
  });

  assert.deepEqual(result, ok);
  assert.deepEqual(seen?.args, ["upgrade", "--post-renderer=flotilla-post-renderer", "--", "web"]);
  assert.equal(seen.stdin, "{}");
  assert.equal(seen.environment?.["NODE_COMPILE_CACHE"], "/cache");
  assert.equal(seen.startsProcesses, true);
  assert.ok(!JSON.stringify([seen.args, seen.environment]).includes("hidden"));
  const plugins = seen.environment["HELM_PLUGINS"] ?? "";
  const plugin = await readFile(join(plugins, "flotilla-post-renderer", "plugin.yaml"), "utf8");
  assert.equal(JSON.parse(plugin).type, "postrenderer/v1");
  assert.deepEqual(await readdir(join(dir, "runs")), [], "the folder of the run is deleted");
});

test("the error of the plugin follows that of Helm, which does not have it", async (t) => {
  const dir = await folder(t);
  const result = await runWith(dir, async (_, own) => {
    await writeRenderError(own, "postRenderers[0]: kustomize: no match");
    return { code: 1, stdout: "", stderr: "Error: plugin exited with error\n" };
  });

  assert.match(
    result.stderr,
    /exited with error\n\nError: postRenderers\[0\]: kustomize: no match\n$/,
  );
  assert.deepEqual(await readdir(join(dir, "runs")), []);
});

test("a failure of Helm itself stays as it is", async (t) => {
  const failed = { code: 1, stdout: "", stderr: "Error: denied\n" };

  assert.deepEqual(await runWith(await folder(t), () => Promise.resolve(failed)), failed);
});

test("what an agent that was killed has left is deleted by the next one", async (t) => {
  const dir = await folder(t);
  await mkdir(join(dir, "runs", "run-old"), { recursive: true });
  await writeFile(join(dir, "runs", "run-old", "rendering.json"), "{}");

  await runWith(dir, () => Promise.resolve(ok));

  assert.deepEqual(await readdir(join(dir, "runs")), []);
});

test("Helm that cannot be started leaves nothing", async (t) => {
  const dir = await folder(t);

  await assert.rejects(
    runWith(dir, () => Promise.reject(new Error("not found"))),
    /not found/,
  );
  assert.deepEqual(await readdir(join(dir, "runs")), []);
});

describe("where Helm may have changed what it passes to the plugin", () => {
  const failed = { code: 1, stdout: "", stderr: "Error: plugin exited with error\n" };
  const release = { code: 0, stdout: '{"manifest": ""}', stderr: "" };
  const plugin = "--post-renderer=flotilla-post-renderer";
  const cases: readonly {
    readonly what: string;
    /** What the dry run comes to, and the run after it. */
    readonly results: readonly HelmResult[];
    readonly options: readonly string[];
    readonly expected: HelmResult;
  }[] = [
    {
      what: "Helm renders the release without it, and the plugin reads that",
      results: [release, ok],
      options: [plugin, "--dry-run=server", plugin],
      expected: ok,
    },
    {
      what: "a release that Helm cannot render fails with the error of Helm",
      results: [{ code: 1, stdout: "", stderr: "Error: denied\n" }],
      options: [plugin, "--dry-run=server"],
      expected: { code: 1, stdout: "", stderr: "Error: denied\n" },
    },
    {
      what: "the next run may fail, too",
      results: [release, failed],
      options: [plugin, "--dry-run=server", plugin],
      expected: failed,
    },
    {
      what: "a rendering that exceeds a limit is not used",
      results: [{ ...release, exceeded: "printed more than 64 MiB" }],
      options: [plugin, "--dry-run=server"],
      expected: { ...release, exceeded: "printed more than 64 MiB" },
    },
  ];
  for (const { what, results, options, expected } of cases)
    test(what, async (t) => {
      const dir = await folder(t);
      const seen: HelmRun[] = [];
      let given: string | undefined;

      const result = await runWith(dir, async (run, own) => {
        seen.push(run);
        if (seen.length === 1) {
          await writeUnreadable(own);
          return failed;
        }
        if (seen.length === 3) given = await readRelease(own);
        return results[seen.length - 2] ?? ok;
      });

      assert.deepEqual(result, expected);
      assert.deepEqual(
        seen.map(({ args, stdin }) => [...args, stdin]),
        options.map((option) => ["upgrade", option, "--", "web", "{}"]),
      );
      assert.equal(seen[1]?.environment, undefined, "the dry run has no plugin");
      assert.equal(given, options.length === 3 ? release.stdout : undefined);
      assert.deepEqual(await readdir(join(dir, "runs")), []);
    });
});

test("a run that exceeds a limit is not repeated", async (t) => {
  const exceeded = { code: 1, stdout: "", stderr: "", exceeded: "used more than 512 MiB" };
  let runs = 0;
  const result = await runWith(await folder(t), async (_, own) => {
    runs++;
    await writeUnreadable(own);
    return exceeded;
  });

  assert.deepEqual(result, exceeded);
  assert.equal(runs, 1);
});
