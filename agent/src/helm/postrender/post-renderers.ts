/**
 * Runs of Helm with the post-renderers of a deployment. Helm starts the plugin, and the plugin starts kustomize: with the limits
 * of the run, in the folder of the run, which is deleted after it. Kustomize runs in the sandbox.
 *
 * Helm reads and writes the chart's YAML before a post-renderer gets it, and changes folded text and what has anchors. Where a chart has
 * them, the plugin takes nothing from Helm: that run ends before it has changed anything, Helm renders the release without a
 * post-renderer (a dry run, which knows the cluster and the revision as the run itself), and the plugin reads that in the next run.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DeploymentContent } from "@flotilla/shared/content";
import type { Sandbox } from "../../sandbox/run/index.ts";
import { withOptions } from "../cli/commands.ts";
import type { HelmResult, RunHelm } from "../cli/run-helm.ts";
import { type RenderStep, renderSteps } from "./kustomization.ts";
import { pluginRun, writePlugin } from "./plugin.ts";
import { isUnreadable, readRenderError, writeRelease, writeRendering } from "./rendering.ts";

/** The program of kustomize. */
export interface KustomizeProgram {
  readonly path: string;
  readonly sandbox: Sandbox;
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
  /** The environment of the plugin, besides Helm's. */
  readonly pluginEnvironment: Readonly<Record<string, string>>;
  readonly dir: string;
}): WithPostRenderers {
  const { environment } = options.kustomize;
  const kustomize = {
    ...options.kustomize,
    environment: { ...goEnvironment, ...environment },
  };
  const plugins = join(options.dir, "plugins");
  const runs = join(options.dir, "runs");
  let prepared: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    // An agent that was killed has left some.
    await rm(runs, { recursive: true, force: true });
    await mkdir(runs, { recursive: true, mode: 0o700 });
    await writePlugin(plugins);
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

  async function runInFolder(runHelm: RunHelm, run: HelmRun, folder: string): Promise<HelmResult> {
    const { args, environment } = pluginRun(plugins, program, folder);
    return await runHelm({
      ...run,
      args: withOptions(args, run.args),
      environment: { ...options.pluginEnvironment, ...environment },
      startsProcesses: true,
    });
  }

  /** As `runInFolder`, also where Helm changes what it passes to the plugin. */
  async function runPlugin(runHelm: RunHelm, run: HelmRun, folder: string): Promise<HelmResult> {
    const result = await runInFolder(runHelm, run, folder);
    if (!hasFailed(result) || !(await isUnreadable(folder))) return result;
    const rendered = await runHelm({ ...run, args: withOptions(["--dry-run=server"], run.args) });
    if (rendered.code !== 0 || rendered.exceeded !== undefined) return rendered;
    await writeRelease(folder, rendered.stdout);
    return await runInFolder(runHelm, run, folder);
  }

  async function runSteps(
    runHelm: RunHelm,
    run: HelmRun,
    steps: readonly RenderStep[],
  ): Promise<HelmResult> {
    return await inFolder(async (folder) => {
      await writeRendering(folder, { kustomize, steps: [...steps] });
      const result = await runPlugin(runHelm, run, folder);
      const error = result.code === 0 ? undefined : await readRenderError(folder);
      if (error === undefined) return result;
      // Helm's own message only says that the plugin has failed.
      return { ...result, stderr: `${result.stderr}\nError: ${error}\n` };
    });
  }

  return (content, runHelm) => {
    const steps = renderSteps(content);
    return steps.length === 0 ? runHelm : async (run) => await runSteps(runHelm, run, steps);
  };
}

/** A run that was ended for a limit is not repeated. */
function hasFailed({ code, exceeded }: HelmResult): boolean {
  return code !== 0 && exceeded === undefined;
}

type HelmRun = Parameters<RunHelm>[0];
