/** The flags of `flotilla plan`. */
import { appKinds, nameKinds } from "@flotilla/shared/api/apps";
import { requestsServiceAccount, workspaceNamespace } from "@flotilla/shared/api/names";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import { parseCount, withHubOptions } from "./options.ts";
import type { PlanCommandOptions } from "./plan.ts";
import { appTargets, kindWords } from "./target.ts";

export function planCommand(config: CliConfig): Command {
  return withHubOptions(new Command("plan"))
    .description(
      "Show what Helm would change in all clusters of an app, in groups; exit code 1 if anything would change",
    )
    .argument("<target...>", `KIND NAME or KIND/NAME; a kind is ${kindWords(appTargets)}`)
    .option("-n, --namespace <name>", `namespace of the ${nameKinds(appKinds)}`, workspaceNamespace)
    .option("--stage <name>", "only the clusters of this stage of its rollout")
    .option("--cluster <name>", "only this Cluster")
    .option(
      "--sample <count>",
      "ask at most so many of clusters that are expected to be equal",
      parseCount,
    )
    .option("--gate <name>", "what the approval of this Gate is about, instead of a new plan")
    .addOption(
      new Option("-o, --output <format>", "output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .option(
      "--service-account <name>",
      "NAME, in that namespace, or NAMESPACE/NAME: the account of the hub's cluster that reads",
      requestsServiceAccount,
    )
    .option("--hub-url <url>", "address of the hub's HTTP port (default: over the API server)")
    .option("--hub-service <name>", "name of the hub's Service", "flotilla")
    .action(async (target: readonly string[], options: PlanCommandOptions) => {
      const { plan } = await import("./plan.ts");
      await plan(target, options, config);
    });
}
