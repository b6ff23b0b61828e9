/** The flags of `flotilla target`. */
import type { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { appArgument, rolloutSubcommand, withOutput } from "./rollout-commands.ts";
import type { TargetOptions } from "./show-targets.ts";

export function targetCommand(config: CliConfig): Command {
  return withOutput(rolloutSubcommand("target"))
    .description("Show which target and which stage take each cluster and why, and what none takes")
    .argument(...appArgument)
    .option("--cluster <name>", "only this Cluster")
    .action(async (words: readonly string[], options: TargetOptions) => {
      const { showTargets } = await import("./show-targets.ts");
      await showTargets(words, options, config);
    });
}
