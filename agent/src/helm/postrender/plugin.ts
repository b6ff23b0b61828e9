/**
 * The plugin of Helm that renders again what Helm has rendered. Since version 4 Helm takes no path of a program, but the name of
 * a plugin in `HELM_PLUGINS`. All paths come from environment variables of the run: Helm splits a command at each space.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A program of Node, which runs kustomize as often as it has to. */
const pluginName = "flotilla-post-renderer";

/** V8's heap of the plugin, MiB: it has the manifest a few times. */
const heapMiB = 256;

/** JSON, which is YAML. */
const pluginFile = JSON.stringify({
  apiVersion: "v1",
  type: "postrenderer/v1",
  name: pluginName,
  version: "1.0.0",
  runtime: "subprocess",
  config: {},
  runtimeConfig: {
    platformCommand: [
      {
        command: "${FLOTILLA_NODE}",
        args: [
          `--max-old-space-size=${heapMiB}`,
          "${FLOTILLA_POST_RENDERER}",
          "${FLOTILLA_POST_RENDERER_RUN}",
        ],
      },
    ],
  },
});

/** What a run of Helm with the plugin has besides its own. */
export interface PluginRun {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Writes the folder of the plugin to `dir`. */
export async function writePlugin(dir: string): Promise<void> {
  const folder = join(dir, pluginName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "plugin.yaml"), pluginFile, { mode: 0o600 });
}

/** `plugins`: where the plugin was written. `program`: of the plugin. `run`: the folder of the run. */
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
