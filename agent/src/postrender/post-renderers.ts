/**
 * Runs of Helm with the post-renderers of a deployment. Helm starts the plugin, and the plugin starts kustomize: with the limits
 * of the run, in the folder of the run, which is deleted after it.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DeploymentContent } from "@flotilla/shared/content";
import type { RunHelm } from "../helm/index.ts";
import { renderSteps } from "./kustomization.ts";
import { pluginRun, writePlugin } from "./plugin.ts";
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
  let prepared: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    // An agent that was killed has left some.
    await rm(runs, { recursive: true, force: true });
    await mkdir(runs, { recursive: true, mode: 0o700 });
    await writePlugin(plugins);
  }

  return (content, runHelm) => {
    const steps = [...renderSteps(content)];
    if (steps.length === 0) return runHelm;
    return async (run) => {
      prepared ??= prepare();
      await prepared.catch((thrown) => {
        prepared = undefined;
        throw thrown;
      });
      const dir = await mkdtemp(join(runs, "run-"));
      try {
        await writeRendering(dir, { kustomize, steps });
        const plugin = pluginRun(plugins, program, dir);
        const result = await runHelm({
          ...run,
          args: [...run.args, ...plugin.args],
          environment: { ...options.pluginEnvironment, ...plugin.environment },
          startsProcesses: true,
        });
        const error = result.code === 0 ? undefined : await readRenderError(dir);
        if (error === undefined) return result;
        // Helm's own message only says that the plugin has failed.
        return { ...result, stderr: `${result.stderr}\nError: ${error}\n` };
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    };
  };
}
