import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "vitest";
import { folderCycles } from "./folder-cycles.ts";
import { layerViolations } from "./violations.ts";

/** A small repository that breaks no rule. */
const clean: Readonly<Record<string, string>> = {
  "shared/package.json": manifest("shared", { "./errors": "./src/runtime/errors/index.ts" }),
  "shared/src/runtime/errors/index.ts": `export { fail, type Failure } from "./fail.ts";`,
  "shared/src/runtime/errors/fail.ts": `export type Failure = string;\nexport const fail = 1;`,
  "proto/package.json": manifest("proto", { ".": "./src/index.ts" }),
  "proto/src/index.ts": `export { wire } from "./wire.ts";`,
  "proto/src/wire.ts": `export const wire = 1;`,
  "agent/package.json": manifest("agent", {}),
  "agent/src/config.ts": `export const errors = 1;`,
  "hub/package.json": manifest("hub", {}),
  "hub/src/config.ts": `export const errors = 1;`,
  "hub/src/base/index.ts": `export { caches, type Caches } from "./cache/caches.ts";`,
  "hub/src/base/cache/caches.ts": `import { wire } from "@flotilla/proto";
import { errors } from "../../config.ts";
import { keys } from "../keys/keys.ts";
export type Caches = typeof wire;
export const caches = [errors, keys];`,
  "hub/src/base/keys/keys.ts": "export const keys = 1;",
  "hub/src/rules/index.ts": `export { status } from "./status/status.ts";`,
  "hub/src/rules/status/status.ts": `import { fail } from "@flotilla/shared/errors";
import { type Caches } from "../../base/index.ts";
export const status: Caches = fail;`,
  "hub/src/rules/status/status.test.ts": `import { caches } from "../../base/cache/caches.ts";
import { createCaches } from "../../testing/index.ts";
export const test = [caches, createCaches];`,
  "hub/src/testing/index.ts": `export { createCaches } from "./caches.ts";`,
  "hub/src/testing/caches.ts": `import { caches } from "../base/cache/caches.ts";\nexport const createCaches = caches;`,
  "hub/src/rollout/index.ts": `export { bundle } from "./bundle/bundle.ts";`,
  "hub/src/rollout/bundle/bundle.ts": `import { status } from "../../rules/index.ts";\nexport const bundle = status;`,
  "hub/src/main.ts": `import { bundle } from "./rollout/index.ts";\nexport const main = bundle;`,
  "local/package.json": manifest("local", {}),
  "local/src/files/index.ts": `export { write } from "./write.ts";`,
  "local/src/files/write.ts": "export const write = 1;",
  "node_modules/@kubernetes/client-node/package.json": manifest("", { ".": "./index.js" }),
  "node_modules/@kubernetes/client-node/index.js": "export const client = 1;",
};

function manifest(name: string, exports: Readonly<Record<string, string>>): string {
  return JSON.stringify({ name: `@flotilla/${name}`, type: "module", exports });
}

interface Case {
  readonly title: string;
  /** What is added to the clean repository or replaced in it. */
  readonly files: Readonly<Record<string, string>>;
  /** The rules that reject it. */
  readonly rules: readonly string[];
}

const cases: readonly Case[] = [
  { title: "allows imports downwards, through entry points", files: {}, rules: [] },
  {
    title: "rejects an upward import",
    files: {
      "hub/src/rules/status/up.ts": `import { main } from "../../main.ts";\nexport const up = main;`,
      "hub/src/rollout/bundle/bundle.ts": "export const bundle = 1;",
    },
    rules: ["hub-layer-3"],
  },
  {
    title: "rejects an upward import of a type",
    files: {
      "hub/src/base/cache/up.ts": `import type { bundle } from "../../rollout/index.ts";\nexport type Up = typeof bundle;`,
      "hub/src/rollout/bundle/bundle.ts": "export const bundle = 1;",
    },
    rules: ["hub-layer-2"],
  },
  {
    title: "rejects a group without a layer",
    files: { "hub/src/utils/some/some.ts": "export const some = 1;" },
    rules: ["layer-missing"],
  },
  {
    title: "rejects a cycle between files",
    files: {
      "hub/src/rules/status/a.ts": `import { b } from "./b.ts";\nexport const a: unknown = b;`,
      "hub/src/rules/status/b.ts": `import type { a } from "./a.ts";\nexport const b: typeof a = 1;`,
    },
    rules: ["no-file-cycle"],
  },
  {
    title: "rejects a cycle between folders whose files form none",
    files: {
      "agent/src/helm/crds/one.ts": "export const one = 1;",
      "agent/src/helm/crds/two.ts": `import { run } from "../cli/run.ts";\nexport const two = run;`,
      "agent/src/helm/cli/run.ts": "export const run = 1;",
      "agent/src/helm/cli/other.ts": `import { one } from "../crds/one.ts";\nexport const other = one;`,
    },
    rules: ["no-folder-cycle"],
  },
  {
    title: "rejects a cycle between a folder and one in it",
    files: {
      "agent/src/helm/crds/one.ts": "export const one = 1;",
      "agent/src/helm/crds/two.ts": `import { inner } from "./inner/inner.ts";\nexport const two = inner;`,
      "agent/src/helm/crds/inner/inner.ts": `import { one } from "../one.ts";\nexport const inner = one;`,
    },
    rules: ["no-folder-cycle"],
  },
  {
    title: "rejects an import past the entry point of a group",
    files: {
      "hub/src/rollout/bundle/bundle.ts": `import { status } from "../../rules/status/status.ts";\nexport const bundle = status;`,
    },
    rules: ["entry-point-of-group"],
  },
  {
    title: "rejects an import past the entry point of a group from a file in src",
    files: {
      "hub/src/main.ts": `import { bundle } from "./rollout/bundle/bundle.ts";\nexport const main = bundle;`,
    },
    rules: ["entry-point-of-group"],
  },
  {
    title: "allows a program of its own to load what it needs",
    files: {
      "hub/src/rollout/bundle/bundle-main.ts": `import { keys } from "../../base/keys/keys.ts";\nexport const bundle = keys;`,
    },
    rules: [],
  },
  {
    title: "rejects a program of its own that loads a group through another file",
    files: {
      "hub/src/rollout/bundle/bundle-main.ts": `import { status } from "../../rules/status/status.ts";\nexport const bundle = status;`,
    },
    rules: ["program-without-groups"],
  },
  {
    title: "rejects an import past the entry point of a folder where there are no groups",
    files: {
      "local/src/process/index.ts": `export { start } from "./start.ts";`,
      "local/src/process/start.ts": `import { write } from "../files/write.ts";\nexport const start = write;`,
    },
    rules: ["entry-point"],
  },
  {
    title: "rejects an import past the entry points of another package, also by a test",
    files: {
      "hub/src/rules/status/past.test.ts": `import { fail } from "../../../../shared/src/runtime/errors/fail.ts";\nexport const past = fail;`,
      "hub/src/rules/status/wire.test.ts": `import { wire } from "../../../../proto/src/wire.ts";\nexport const past = wire;`,
    },
    rules: ["entry-point-of-package", "entry-point-of-flat-package"],
  },
  {
    title: "rejects what another package does not export",
    files: {
      "hub/src/rules/status/past.ts": `import { fail } from "@flotilla/shared/errors/fail.ts";\nexport const past = fail;`,
    },
    rules: ["unresolved"],
  },
  {
    title: "rejects imports between hub and agent",
    files: {
      "hub/src/rules/status/agent.ts": `import type { errors } from "../../../../agent/src/config.ts";\nexport type E = typeof errors;`,
      "agent/src/main.ts": `import { errors } from "../../hub/src/config.ts";\nexport const hub = errors;`,
    },
    rules: ["agent-imports", "hub-imports"],
  },
  {
    title: "rejects imports of hub and agent in shared",
    files: {
      "shared/src/runtime/errors/hub.ts": `import { errors } from "../../../../hub/src/config.ts";\nexport const hub = errors;`,
      "shared/src/runtime/errors/agent.ts": `import { errors } from "../../../../agent/src/config.ts";\nexport const agent = errors;`,
    },
    rules: ["shared-imports", "shared-imports"],
  },
  {
    title: "allows the types of @kubernetes/client-node",
    files: {
      "hub/src/rules/status/pod.ts": `import type { client } from "@kubernetes/client-node";\nexport type Pod = typeof client;`,
    },
    rules: [],
  },
  {
    title: "rejects @kubernetes/client-node at run time",
    files: {
      "hub/src/rules/status/pod.ts": `import { client } from "@kubernetes/client-node";\nexport const pod = client;`,
    },
    rules: ["kubernetes-types-only"],
  },
  {
    title: "rejects test doubles in production",
    files: {
      "hub/src/rules/status/fake.ts": `import { createCaches } from "../../testing/index.ts";\nexport const fake = createCaches;`,
    },
    rules: ["no-tests-in-production"],
  },
];

for (const { title, files, rules } of cases) {
  test(title, async (t) => {
    const repository = await write(t, { ...clean, ...files });

    const violations = await layerViolations(repository);

    assert.deepEqual(violations.map(nameOf).sort(), [...rules].sort(), violations.join("\n"));
  });
}

test("a cycle of folders is reported once, with an import for each edge in it", () => {
  const imports = [
    { from: "hub/src/a/1.ts", to: "hub/src/b/1.ts" },
    { from: "hub/src/a/2.ts", to: "hub/src/b/2.ts" },
    { from: "hub/src/b/1.ts", to: "hub/src/c/1.ts" },
    { from: "hub/src/c/1.ts", to: "hub/src/a/1.ts" },
    { from: "hub/src/c/1.ts", to: "hub/src/errors.ts" },
    { from: "hub/src/main.ts", to: "hub/src/a/1.ts" },
  ];

  assert.deepEqual(folderCycles(imports), [
    {
      nodes: ["hub/src/a", "hub/src/b", "hub/src/c"],
      imports: [
        { from: "hub/src/a/1.ts", to: "hub/src/b/1.ts" },
        { from: "hub/src/b/1.ts", to: "hub/src/c/1.ts" },
        { from: "hub/src/c/1.ts", to: "hub/src/a/1.ts" },
      ],
    },
  ]);
});

async function write(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-layers-"));
  t.onTestFinished(() => rm(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await mkdir(join(folder, "node_modules/@flotilla"));
  for (const name of ["shared", "proto", "hub", "agent", "local"])
    await symlink(join(folder, name), join(folder, "node_modules/@flotilla", name));
  return folder;
}

function nameOf(violation: string): string {
  return violation.slice(0, violation.indexOf(":"));
}
