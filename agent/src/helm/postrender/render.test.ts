import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "vitest";
import { render } from "./render.ts";
import type { Rendering } from "./rendering.ts";

const object = { kind: "A", metadata: { name: "a" } };

/** The result with a shell script in place of kustomize, and what is left in the folder of the run. */
async function renderWith(
  t: TestContext,
  script: string,
  steps: Rendering["steps"],
  objects: readonly unknown[] = [object],
): Promise<string> {
  const programs = await mkdtemp(join(tmpdir(), "flotilla-kustomize-"));
  const dir = await mkdtemp(join(tmpdir(), "flotilla-render-"));
  t.onTestFinished(async () => {
    for (const each of [programs, dir]) await rm(each, { recursive: true });
  });
  const path = join(programs, "kustomize");
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o700);
  const environment = { PATH: "/usr/bin:/bin" };
  // In the sandbox no script runs.
  const sandbox = { kind: "unconfined" } as const;
  try {
    return await render(objects, { kustomize: { path, environment, sandbox }, steps }, dir);
  } finally {
    assert.deepEqual(await readdir(dir), [], "no file is left");
  }
}

const step = (field: string) => ({ field, kustomization: {} });

test("each step gets the result of the one before", async (t) => {
  const script = "cat manifest.yaml; printf -- '---\\nstep: done\\n'";
  const rendered = await renderWith(t, script, [step("first"), step("second")]);

  assert.equal(
    rendered,
    '{"kind":"A","metadata":{"name":"a"}}\n---\n{"step":"done"}\n---\nstep: done\n',
  );
});

test("kustomize runs in a folder with its two files, with an empty home, and builds nothing else", async (t) => {
  const rendered = await renderWith(
    t,
    'echo "args: $*"; echo "files:" *; echo "home:" $(ls -A "$HOME" | wc -c); echo "names:" $(env | cut -d= -f1 | grep -v "^_$" | sort)',
    [step("first")],
  );

  assert.equal(
    rendered.replace("home: 0", "home: empty").replaceAll(/ (OLDPWD|PWD|SHLVL)\b/g, ""),
    "args: build .\nfiles: kustomization.yaml manifest.yaml\nhome: empty\nnames: HOME PATH TMPDIR\n",
  );
});

test("an error has the field and the sentence of kustomize, without its warnings", async (t) => {
  const script = "echo '# Warning: old' >&2; echo 'Error: no match' >&2; exit 1";

  await assert.rejects(renderWith(t, script, [step("postRenderers[1]")]), {
    message: "postRenderers[1]: kustomize: no match",
  });
});

test("an error without a sentence has the exit code", async (t) => {
  await assert.rejects(renderWith(t, "exit 3", [step("commonMetadata")]), {
    message: "commonMetadata: kustomize: ended with code 3",
  });
});

test("an empty result is one that Helm accepts", async (t) => {
  assert.equal(await renderWith(t, "exit 0", [step("first")]), "# no objects\n");
  assert.equal(await renderWith(t, "exit 1", [step("first")], []), "# no objects\n");
});

test("an error says how the path of kustomize is set, if there is none", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-render-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  const sandbox = { kind: "unconfined" } as const;
  const kustomize = { path: "/no/kustomize", environment: {}, sandbox };

  await assert.rejects(
    render([object], { kustomize, steps: [step("commonMetadata")] }, dir),
    /^Error: commonMetadata: kustomize: could not be started: .*ENOENT; check .* --kustomize$/,
  );
});

test("nothing is rendered where kustomize may not run without the sandbox", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-render-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  const sandbox = { kind: "refused", why: "kernel 5.4.0 has no Landlock" } as const;
  const kustomize = { path: "/bin/true", environment: {}, sandbox };

  await assert.rejects(render([object], { kustomize, steps: [step("commonMetadata")] }, dir), {
    message: "commonMetadata: kustomize: run /bin/true: kernel 5.4.0 has no Landlock",
  });
});
