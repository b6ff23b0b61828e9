/** Plans helmfiles with the real helmfile, in the sandbox, as an agent does. */
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LimitError } from "@flotilla/agent/base";
import type { HelmfileRequest, PlannedHelmfile } from "@flotilla/agent/helmfile";
import { planHelmfile } from "@flotilla/agent/helmfile";
import { createReaders, createReadYaml } from "@flotilla/agent/inputs";
import { openSandbox } from "@flotilla/agent/sandbox";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { silentLog } from "@flotilla/shared/log";
import { createProcessWatch } from "@flotilla/shared/process";
import { createSourceClient } from "@flotilla/shared/source/client";
import { afterAll } from "vitest";

const MiB = 1024 * 1024;

/** Texts by their paths. */
export type Files = Readonly<Record<string, string>>;

export interface HelmfilePlanner {
  /** The run changes the tree. */
  planTree(tree: string, request?: Partial<HelmfileRequest>): Promise<PlannedHelmfile>;
  plan(files: Files, request?: Partial<HelmfileRequest>): Promise<PlannedHelmfile>;
}

export async function startHelmfilePlanner(): Promise<HelmfilePlanner> {
  const programs = await ensureBinaries(["helmfile", "relay", "helm", "kustomize", "confine"]);
  const dir = await testDir({ onTestFinished: afterAll });
  const watch = createProcessWatch({ totalBytes: 2_048 * MiB });
  const limits = { memoryBytes: 512 * MiB, cpuMs: 60_000, fullPriorityCpuMs: 2_000 };
  const readers = createReaders({
    watch,
    limits,
    records: {
      load: () => Promise.resolve(),
      check: () => undefined,
      succeeded: () => Promise.resolve(),
      exceeded: (_, message) => Promise.resolve(new LimitError(message, 0)),
    },
    maxReaders: 2,
    environment: {},
  });
  const client = createSourceClient({ userAgent: "flotilla-test" });
  afterAll(async () => {
    await Promise.all([readers.close(), client.close()]);
  });
  const sandbox = await openSandbox({
    launcher: programs.confine,
    environment: {},
    program: "helmfile",
    least: "Unconfined",
    log: silentLog(),
  });
  const runs = join(dir, "runs");
  await mkdir(runs);
  const deps = {
    programs,
    versions: { helmfile: "v1.7.4", helm: "v4.3.1" },
    sandbox,
    client,
    readers,
    readYaml: createReadYaml(readers),
    watch,
    limits,
    dir: runs,
  };
  const planTree: HelmfilePlanner["planTree"] = (tree, request = {}) =>
    planHelmfile(
      deps,
      {
        tree,
        defaultNamespace: "default",
        key: Buffer.from("key"),
        isInstalled: () => false,
        timeoutMs: 60_000,
        signal: AbortSignal.timeout(120_000),
        ...request,
      },
      (planned) => Promise.resolve(planned),
    );
  return {
    planTree,
    async plan(files, request) {
      const tree = await mkdtemp(join(dir, "tree-"));
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(tree, path)), { recursive: true });
        await writeFile(join(tree, path), text);
      }
      return await planTree(tree, request);
    },
  };
}
