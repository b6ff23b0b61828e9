/**
 * Runs of Helm with the post-renderers of a deployment. Helm starts the plugin, and the plugin starts kustomize: with the limits
 * of the run, in the folder of the run, which is deleted after it. For common metadata alone, which every HelmRelease has, Helm
 * starts kustomize itself, as long as kustomize takes what the chart renders: starting Node costs more than all the rest.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLruCache } from "@flotilla/shared/cache";
import type { DeploymentContent } from "@flotilla/shared/content";
import type { HelmResult, RunHelm } from "../helm/index.ts";
import { type RenderStep, renderSteps } from "./kustomization.ts";
import {
  hasKustomizeFailed,
  kustomizeRun,
  type PluginRun,
  pluginRun,
  writeKustomization,
  writePlugins,
} from "./plugin.ts";
import { readRenderError, writeRendering } from "./rendering.ts";

/** The program of kustomize. */
export interface KustomizeProgram {
  readonly path: string;
  /** Besides a home of its own. Nothing else is inherited. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs Helm with what the content changes in rendered objects; `runHelm` itself if it changes nothing. */
export type WithPostRenderers = (content: DeploymentContent, runHelm: RunHelm) => RunHelm;

/** As in the agent: compiled, the file beside this one ends in .js. */
const program = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".ts") ? "./post-renderer-main.ts" : "./post-renderer-main.js",
    import.meta.url,
  ),
);

/** Kustomize runs for a fraction of a second: garbage collection costs more than it saves. */
const goEnvironment = { GOGC: "400", GOMEMLIMIT: "200MiB" };

/** How many releases are remembered whose objects kustomize alone does not take. */
const maxRejected = 1_000;

/** `dir`: a folder of its own. */
export function createPostRenderers(options: {
  readonly kustomize: KustomizeProgram;
  /** Of the plugin, besides that of Helm. */
  readonly pluginEnvironment: Readonly<Record<string, string>>;
  readonly dir: string;
}): WithPostRenderers {
  const { path, environment } = options.kustomize;
  const kustomize = { path, environment: { ...goEnvironment, ...environment } };
  const plugins = join(options.dir, "plugins");
  const runs = join(options.dir, "runs");
  const rejected = createLruCache<true>(maxRejected);
  let prepared: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    // An agent that was killed has left some.
    await rm(runs, { recursive: true, force: true });
    await mkdir(runs, { recursive: true, mode: 0o700 });
    await writePlugins(plugins);
  }

  /** With a folder of its own, which is deleted. */
  async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
    prepared ??= prepare();
    await prepared.catch((thrown) => {
      prepared = undefined;
      throw thrown;
    });
    const folder = await mkdtemp(join(runs, "run-"));
    try {
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  function runWith(runHelm: RunHelm, run: HelmRun, plugin: PluginRun): Promise<HelmResult> {
    return runHelm({
      ...run,
      args: [...run.args, ...plugin.args],
      environment: plugin.environment,
      startsProcesses: true,
    });
  }

  function runPlugin(
    runHelm: RunHelm,
    run: HelmRun,
    steps: readonly RenderStep[],
  ): Promise<HelmResult> {
    return inFolder(async (folder) => {
      await writeRendering(folder, { kustomize, steps: [...steps] });
      const { args, environment: own } = pluginRun(plugins, program, folder);
      const plugin = { args, environment: { ...options.pluginEnvironment, ...own } };
      const result = await runWith(runHelm, run, plugin);
      const error = result.code === 0 ? undefined : await readRenderError(folder);
      if (error === undefined) return result;
      // Helm's own message only says that the plugin has failed.
      return { ...result, stderr: `${result.stderr}\nError: ${error}\n` };
    });
  }

  return (content, runHelm) => {
    const steps = renderSteps(content);
    const [only] = steps;
    if (only === undefined) return runHelm;
    const isMetadata = steps.length === 1 && only.field === "commonMetadata";
    const release = `${content.namespace}/${content.releaseName}`;
    return async (run) => {
      if (isMetadata && rejected.get(release) === undefined) {
        const result = await inFolder(async (folder) => {
          await writeKustomization(folder, only.kustomization);
          return await runWith(runHelm, run, kustomizeRun(plugins, path, folder));
        });
        if (result.exceeded !== undefined || !hasKustomizeFailed(result)) return result;
        // It has two objects of one name, or one with a generated name, or none: Helm has changed nothing yet.
        rejected.set(release, true);
      }
      return await runPlugin(runHelm, run, steps);
    };
  };
}

type HelmRun = Parameters<RunHelm>[0];
