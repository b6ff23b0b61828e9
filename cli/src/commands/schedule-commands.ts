/** The flags of `flotilla schedule`. */
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { Command } from "commander";
import type { CliConfig } from "../config.ts";
import { parseCount, withHubOptions } from "./options.ts";
import type { CheckOptions, NextOptions } from "./schedule.ts";

export function scheduleCommand(config: CliConfig): Command {
  return new Command("schedule")
    .description("Show when clusters may be changed")
    .addCommand(checkCommand(config))
    .addCommand(nextCommand(config));
}

function checkCommand(config: CliConfig): Command {
  return withHubOptions(new Command("check"))
    .description("Validate an expression or a Schedule, and list its next starts")
    .argument(
      "<expression...>",
      'an expression such as "0 0 22 ? * MON-FRI", or NAME or schedule/NAME of a Schedule',
    )
    .option("-n, --namespace <name>", "namespace of the Schedule", workspaceNamespace)
    .option("--duration <duration>", "how long the window of the expression stays open, such as 4h")
    .option("--location <zone>", "time zone of the expression, such as Europe/Berlin")
    .option("--count <n>", "number of starts", parseCount, 5)
    .action(async (words: readonly string[], options: CheckOptions) => {
      const { checkSchedule } = await import("./schedule.ts");
      await checkSchedule(words, options, config);
    });
}

function nextCommand(config: CliConfig): Command {
  return withHubOptions(new Command("next"))
    .description(
      "List Schedules: whether each is active, and when that changes; or when a cluster may be changed",
    )
    .argument(
      "[target...]",
      "NAME, schedule/NAME or cluster/NAME; a name alone is a Schedule, else a Cluster (default: all Schedules of the namespace)",
    )
    .option("-n, --namespace <name>", "namespace of the Schedules and Clusters", workspaceNamespace)
    .option("--count <n>", "number of windows of a cluster", parseCount, 5)
    .action(async (words: readonly string[], options: NextOptions) => {
      const { nextWindows } = await import("./schedule.ts");
      await nextWindows(words, options, config);
    });
}
