/** The flags and the help of `flotilla simulate`. */
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import { parseCount, parseLatency, parseRate, withHubOptions } from "./options.ts";
import type { SimulateOptions } from "./simulate.ts";

export function simulateCommand(config: CliConfig): Command {
  return withHubOptions(new Command("simulate"))
    .description("Connect simulated agents to a hub to test it at scale")
    .option("--agents <n>", "number of agents", parseCount, 100)
    .option("--bundles <n>", "number of HelmOps to create for these agents", parseCount, 0)
    .addOption(
      new Option("--latency <duration>", "mean duration of an installation, varies by half")
        .argParser(parseLatency)
        .default(1_000, "1s"),
    )
    .option("--failure-rate <rate>", "share of installations that fail, 0 to 1", parseRate, 0)
    .option("--changes <n>", "releases that become not ready or ready each second", parseCount, 0)
    .option(
      "--plan-groups <n>",
      "groups of agents that answer plans with the same diff",
      parseCount,
      1,
    )
    .option("--name <name>", "name of the simulation (default: generated)")
    .option("-n, --namespace <name>", "namespace of the Clusters and HelmOps", workspaceNamespace)
    .option(
      "--token-secret <name>",
      "Secret of a ClusterRegistrationToken to register with (default: a token is created)",
    )
    .option("--keep", "keep Clusters, HelmOps and the token on exit")
    .option("--remove <name>", "delete the objects of this simulation and exit")
    .option("--log-file <file>", "append the logs of the agents to this file")
    .addHelpText("after", help)
    .action(async (options: SimulateOptions) => {
      const { simulate } = await import("./simulate.ts");
      await simulate(options, config);
    });
}

const help = `
Each agent registers with a certificate request of its own, opens its own
connection and runs the code of a real agent. Only Helm and the cluster are
simulated: an installation takes --latency and then is Ready, or fails and is
retried. No chart is downloaded and nothing is installed. With --changes
that many releases a second become not ready or ready again, once all agents are
connected: one in ten agents has a release that is not ready, at any time.

Clusters are named NAME-1, NAME-2, ... and labelled simulation=NAME. HelmOps
that target all clusters reach them, too. --bundles creates HelmOps NAME-1, ...
whose chart does not have to exist. To test an upgrade, change the chart in one
of them; to test your own charts, target the label.

Ctrl-C disconnects the agents and deletes the objects that this simulation
created, unless --keep is set. Objects that it did not create are never changed
or deleted; if one of them has a name that the simulation needs, nothing is
created. With --token-secret no token is created or deleted. A simulation that
was kept cannot be resumed, because the keys of its agents are not stored:
delete it with --remove NAME before you use the name again.`;
