import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainContent } from "@flotilla/shared/content/testing";
import { type TestContext, test } from "vitest";
import type { HelmResult, RunHelm } from "../helm/index.ts";
import { createPostRenderers } from "./post-renderers.ts";
import { readRendering, writeRenderError } from "./rendering.ts";

type HelmRun = Parameters<RunHelm>[0];

const { signal } = new AbortController();
const metadata = { ...plainContent, commonMetadata: { labels: { password: "hidden" } } };
const content = { ...metadata, postRenderers: [{ images: [{ name: "a", newTag: "2" }] }] };
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
  const kustomize = { path: "/bin/kustomize", environment: { PATH: "/bin" } };
  const pluginEnvironment = { NODE_COMPILE_CACHE: "/cache" };
  const withPostRenderers = createPostRenderers({ kustomize, pluginEnvironment, dir });
  const run = withPostRenderers(content, async (each) => {
    return await helm(each, each.environment?.["FLOTILLA_POST_RENDERER_RUN"] ?? "");
  });
  return await run({ args: ["upgrade"], stdin: "{}", signal });
}

test("a content that changes nothing runs Helm as it is, and writes nothing", async (t) => {
  const dir = await folder(t);
  const runHelm = () => Promise.resolve(ok);
  const kustomize = { path: "/bin/kustomize", environment: {} };

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
    assert.deepEqual(Object.keys(kustomize.environment).sort(), ["GOGC", "GOMEMLIMIT", "PATH"]);
    assert.deepEqual(
      steps.map(({ field }) => field),
      ["postRenderers[0]", "commonMetadata"],
    );
    return ok;
  });

  assert.deepEqual(result, ok);
  assert.deepEqual(seen?.args, ["upgrade", "--post-renderer=flotilla-post-renderer"]);
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

/** Runs of Helm with common metadata alone; each result of `helm` is that of one run. */
async function runMetadata(
  t: TestContext,
  ...results: readonly HelmResult[]
): Promise<{ readonly seen: HelmRun[]; readonly run: () => Promise<HelmResult>; dir: string }> {
  const dir = await folder(t);
  const seen: HelmRun[] = [];
  const withPostRenderers = createPostRenderers({
    kustomize: { path: "/bin/kustomize", environment: {} },
    pluginEnvironment: { NODE_COMPILE_CACHE: "/cache" },
    dir,
  });
  const helm = withPostRenderers(metadata, (run) => {
    seen.push(run);
    return Promise.resolve(results[seen.length - 1] ?? ok);
  });
  return { seen, dir, run: () => helm({ args: ["upgrade"], stdin: "{}", signal }) };
}

test("for common metadata alone Helm starts kustomize itself, and no Node", async (t) => {
  const { seen, run, dir } = await runMetadata(t);

  assert.deepEqual(await run(), ok);

  assert.equal(seen.length, 1);
  assert.deepEqual(seen[0]?.args, ["upgrade", "--post-renderer=flotilla-kustomize"]);
  const { HELM_PLUGINS: plugins = "", ...environment } = seen[0].environment ?? {};
  assert.deepEqual(Object.keys(environment).sort(), [
    "FLOTILLA_KUSTOMIZE",
    "FLOTILLA_POST_RENDERER_RUN",
  ]);
  assert.ok(!JSON.stringify(seen).includes("hidden"));
  const plugin = await readFile(join(plugins, "flotilla-kustomize", "plugin.yaml"), "utf8");
  assert.match(plugin, /FLOTILLA_KUSTOMIZE/);
  assert.deepEqual(await readdir(join(dir, "runs")), [], "the folder of the run is deleted");
});

for (const [what, sentence] of [
  ["rejects", 'failed to invoke post-renderer plugin "flotilla-kustomize": plugin exited'],
  ["makes nothing of", 'post-renderer "flotilla-kustomize" produced empty output'],
] as const)
  test(`what kustomize alone ${what} is rendered by the plugin, and at once in later runs`, async (t) => {
    const failed = { code: 1, stdout: "", stderr: `Error: ${sentence}\n` };
    const { seen, run } = await runMetadata(t, failed);

    assert.deepEqual(await run(), ok);
    assert.deepEqual(await run(), ok);

    assert.deepEqual(
      seen.map(({ args }) => args.at(-1)),
      ["flotilla-kustomize", "flotilla-post-renderer", "flotilla-post-renderer"].map(
        (name) => `--post-renderer=${name}`,
      ),
    );
  });

test("another failure of Helm with common metadata is not repeated", async (t) => {
  const failed = { code: 1, stdout: "", stderr: "Error: denied\n" };
  const { seen, run } = await runMetadata(t, failed);

  assert.deepEqual(await run(), failed);
  assert.equal(seen.length, 1);
});

test("a run with common metadata that exceeds a limit is not repeated", async (t) => {
  const stderr = 'Error: failed to invoke post-renderer plugin "flotilla-kustomize"\n';
  const exceeded = { code: 1, stdout: "", stderr, exceeded: "used more than 512 MiB" };
  const { seen, run } = await runMetadata(t, exceeded);

  assert.deepEqual(await run(), exceeded);
  assert.equal(seen.length, 1);
});
