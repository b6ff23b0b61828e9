/**
 * The plugins of Helm that render again what Helm has rendered. Since version 4 Helm takes no path of a program, but the name of
 * a plugin in `HELM_PLUGINS`. All paths come from environment variables of the run: Helm splits a command at each space.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HelmResult } from "../helm/index.ts";
import type { Kustomization } from "./kustomization.ts";
import { kustomizationFile } from "./kustomization.ts";

/** A program of Node, which runs kustomize as often as it has to. */
const pluginName = "flotilla-post-renderer";
/** Kustomize itself, once. */
const kustomizeName = "flotilla-kustomize";

/** V8's heap of the plugin, MiB: it has the manifest a few times. */
const heapMiB = 256;

const commands = {
  [pluginName]: {
    command: "${FLOTILLA_NODE}",
    args: [
      `--max-old-space-size=${heapMiB}`,
      "${FLOTILLA_POST_RENDERER}",
      "${FLOTILLA_POST_RENDERER_RUN}",
    ],
  },
  [kustomizeName]: {
    command: "${FLOTILLA_KUSTOMIZE}",
    // What Helm passes on is outside of the run's folder.
    args: ["build", "--load-restrictor=LoadRestrictionsNone", "${FLOTILLA_POST_RENDERER_RUN}"],
  },
};

/** JSON, which is YAML. */
function pluginFile(name: string, command: unknown): string {
  return JSON.stringify({
    apiVersion: "v1",
    type: "postrenderer/v1",
    name,
    version: "1.0.0",
    runtime: "subprocess",
    config: {},
    runtimeConfig: { platformCommand: [command] },
  });
}

/** What a run of Helm with the plugin has besides its own. */
export interface PluginRun {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Writes the folders of the plugins to `dir`. */
export async function writePlugins(dir: string): Promise<void> {
  for (const [name, command] of Object.entries(commands)) {
    const folder = join(dir, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, "plugin.yaml"), pluginFile(name, command), { mode: 0o600 });
  }
}

/** `plugins`: where the plugins were written. `program`: of the plugin. `run`: the folder of the run. */
export function pluginRun(plugins: string, program: string, run: string): PluginRun {
  return {
    args: [`--post-renderer=${pluginName}`],
    environment: {
      HELM_PLUGINS: plugins,
      FLOTILLA_NODE: process.execPath,
      FLOTILLA_POST_RENDERER: program,
      FLOTILLA_POST_RENDERER_RUN: run,
    },
  };
}

/** The same with kustomize alone, for what `writeKustomization` has written. `kustomize`: the path of the program. */
export function kustomizeRun(plugins: string, kustomize: string, run: string): PluginRun {
  return {
    args: [`--post-renderer=${kustomizeName}`],
    environment: {
      HELM_PLUGINS: plugins,
      FLOTILLA_KUSTOMIZE: kustomize,
      FLOTILLA_POST_RENDERER_RUN: run,
    },
  };
}

/**
 * Whether Helm has failed because kustomize rejects what the chart renders, or has rendered nothing. Helm has changed nothing
 * then.
 */
export function hasKustomizeFailed({ code, stderr }: Pick<HelmResult, "code" | "stderr">): boolean {
  return code !== 0 && new RegExp(`post-renderer (?:plugin )?"${kustomizeName}"`).test(stderr);
}

/** For kustomize as the plugin: it reads its objects from its standard input. */
export async function writeKustomization(dir: string, kustomization: Kustomization): Promise<void> {
  const file = kustomizationFile(kustomization, "/dev/stdin");
  await writeFile(join(dir, "kustomization.yaml"), file, { mode: 0o600 });
}
