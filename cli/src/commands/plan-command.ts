/** The flags of `flotilla plan`. */
import { appKinds, nameKinds } from "@flotilla/shared/api/apps";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import { parseCount, withHubOptions, withRequestsOptions } from "./options.ts";
import type { PlanCommandOptions } from "./plan.ts";
import { appTargets, kindWords } from "./target.ts";

export function planCommand(config: CliConfig): Command {
  return withRequestsOptions(withHubOptions(new Command("plan")))
    .description(
      "Show what Helm would change in all clusters of an app, in groups; exit code 1 if anything would change",
    )
    .argument(
      "<target...>",
      `NAME of a HelmOp, KIND NAME or KIND/NAME; a kind is ${kindWords(appTargets)}`,
    )
    .option("-n, --namespace <name>", `namespace of the ${nameKinds(appKinds)}`, workspaceNamespace)
    .option("--stage <name>", "only the clusters of this stage of its rollout")
    .option("--cluster <name>", "only this Cluster")
    .option(
      "--sample <count>",
      "ask at most so many of clusters that are expected to be equal: what they have and get, and the minor version of Kubernetes",
      parseCount,
    )
    .option("--version <version>", "as if the app named this version, or constraint")
    .option(
      "-f, --values <file>",
      "as if the app had these values over its own; - is standard input (may be repeated)",
      addTo,
    )
    .option("--set <path=value,...>", "as --set of helm upgrade (may be repeated)", addTo)
    .addOption(
      new Option(
        "--gate <name>",
        "what the approval of this Gate is about, instead of a new plan",
      ).conflicts(["version", "values", "set"]),
    )
    .addOption(
      new Option("-o, --output <format>", "output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .action(async (target: readonly string[], options: PlanCommandOptions) => {
      const { plan } = await import("./plan.ts");
      await plan(target, options, config);
    });
}

function addTo(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
