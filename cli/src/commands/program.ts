/** The command tree: subcommands and flags. Actions import their code lazily, so that `--help` and kubectl stay fast. */

import { workspaceNamespace } from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import type { HubOptions } from "../fleet/index.ts";
import { changeCommands } from "./change-commands.ts";
import { gateCommands } from "./gate-commands.ts";
import { dirOption, parseClusterCount, parseTimeout, withHubOptions } from "./options.ts";
import { planCommand } from "./plan-command.ts";
import type { TargetOptions } from "./reconcile.ts";
import { requestCommands } from "./request-commands.ts";
import { rolloutCommand } from "./rollout-commands.ts";
import { scheduleCommand } from "./schedule-commands.ts";
import { simulateCommand } from "./simulate-command.ts";
import { targetCommand } from "./target-command.ts";

/** Every subcommand of `flotilla`. */
export function createProgram(config: CliConfig): Command {
  const program = new Command("flotilla")
    .description("Deploy Helm charts to a fleet of Kubernetes clusters")
    .version(buildVersion)
    .showHelpAfterError()
    .enablePositionalOptions();
  for (const command of [
    upCommand(config),
    downCommand(config),
    statusCommand(config),
    dashboardCommand(config),
    chartsCommand(config),
    ...changeCommands(config),
    ...requestCommands(config),
    rolloutCommand(config),
    ...gateCommands(config),
    planCommand(config),
    targetCommand(config),
    clusterCommand(config),
    scheduleCommand(config),
    rotateAuthorityCommand(config),
    uninstallCommand(config),
    simulateCommand(config),
    crdsCommand(),
    kubectlCommand(config),
    helmCommand(config),
  ])
    program.addCommand(command);
  inheritSettings(program);
  return program;
}

/** Applies the settings of a command, such as help after errors, to its subcommands. */
function inheritSettings(command: Command): void {
  for (const subcommand of command.commands) {
    subcommand.copyInheritedSettings(command);
    inheritSettings(subcommand);
  }
}

function upCommand(config: CliConfig): Command {
  return new Command("up")
    .description("Start a local fleet: hub, clusters, registries, agents and a sample HelmOp")
    .addOption(dirOption(config))
    .option("--clusters <n>", "number of clusters besides the hub", parseClusterCount, 2)
    .addOption(
      new Option("--provider <name>", "how clusters are created: as processes, or with kind")
        .choices(["embedded", "kind"])
        .default("embedded"),
    )
    .option("--detach", "exit once the fleet is ready and leave it running")
    .option("--no-sample", "do not create the sample HelmOp")
    .option("--bare", "install nothing of Flotilla, for docs/install.md")
    .option(
      "--local",
      "register the hub's own cluster as fleet-local/local; HelmReleases for it then need no service account",
    )
    .action(
      async (options: {
        dir: string;
        clusters: number;
        provider: "embedded" | "kind";
        detach?: boolean;
        sample: boolean;
        local?: boolean;
        bare?: boolean;
      }) => {
        const { up } = await import("./up-down.ts");
        await up(options, config);
      },
    );
}

function downCommand(config: CliConfig): Command {
  return new Command("down")
    .description("Stop the local fleet and delete its data")
    .addOption(dirOption(config))
    .action(async (options: { dir: string }) => {
      const { down } = await import("./up-down.ts");
      await down(options.dir, config);
    });
}

function statusCommand(config: CliConfig): Command {
  return new Command("status")
    .description("Show addresses, clusters, HelmOps and Bundles of the local fleet")
    .addOption(dirOption(config))
    .addOption(
      new Option("-o, --output <format>", "output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .action(async (options: { dir: string; output: "text" | "json" }) => {
      const { status } = await import("./status.ts");
      await status(options.dir, options.output);
    });
}

function dashboardCommand(config: CliConfig): Command {
  return new Command("dashboard")
    .description("Print a link that logs in to the dashboard of the local fleet, once")
    .addOption(dirOption(config))
    .action(async (options: { dir: string }) => {
      const { dashboard } = await import("./dashboard.ts");
      await dashboard(options.dir);
    });
}

function chartsCommand(config: CliConfig): Command {
  const publish = new Command("publish")
    .description("Package a chart and push it to the HTTP repository and the OCI registry")
    .argument("<chart>", "folder with a Chart.yaml")
    .addOption(dirOption(config))
    .option("--version <version>", "set the version of the chart")
    .option("--app-version <version>", "set the appVersion of the chart")
    .action(
      async (chart: string, options: { dir: string; version?: string; appVersion?: string }) => {
        const { publish } = await import("./publish.ts");
        await publish(chart, options);
      },
    );
  return new Command("charts")
    .description("Manage charts in the repositories of the local fleet")
    .addCommand(publish);
}

function clusterCommand(config: CliConfig): Command {
  const revoke = withHubOptions(new Command("revoke"))
    .description("Revoke the certificate of a cluster's agent; installed releases stay")
    .argument("<target...>", "NAME or cluster/NAME")
    .option("-n, --namespace <name>", "namespace of the Cluster", workspaceNamespace)
    .action(async (target: readonly string[], options: Omit<TargetOptions, "target">) => {
      const { revoke } = await import("./revoke.ts");
      await revoke({ target, ...options }, config);
    });
  return new Command("cluster").description("Manage registered clusters").addCommand(revoke);
}

function rotateAuthorityCommand(config: CliConfig): Command {
  return withHubOptions(new Command("rotate-authority"))
    .description("Rotate the certificate authority of the hub; agents stay connected")
    .action(async (options: HubOptions) => {
      const { rotateAuthority } = await import("./rotate-authority.ts");
      await rotateAuthority(options, config);
    });
}

function uninstallCommand(config: CliConfig): Command {
  return withHubOptions(new Command("uninstall"))
    .description("Empty a fleet, so that its charts can be uninstalled with Helm")
    .option("--keep-releases", "leave what runs in the clusters; works without a hub")
    .option("--yes", "do it; without this flag only show what would be deleted")
    .addOption(
      new Option("--timeout <duration>", "how long to wait while nothing changes")
        .argParser(parseTimeout)
        .default(5 * 60_000, "5m"),
    )
    .action(
      async ({
        keepReleases = false,
        yes = false,
        timeout,
        ...options
      }: HubOptions & { keepReleases?: boolean; yes?: boolean; timeout: number }) => {
        const { uninstall } = await import("./uninstall.ts");
        await uninstall({ ...options, keepReleases, yes, timeoutMs: timeout }, config);
      },
    );
}

function crdsCommand(): Command {
  return new Command("crds")
    .description("Print the CustomResourceDefinitions as YAML")
    .action(async () => {
      const { crds } = await import("./cluster-tool.ts");
      await crds();
    });
}

function kubectlCommand(config: CliConfig): Command {
  return clusterToolCommand("kubectl", config).description(
    "Run kubectl on the local fleet; contexts: hub, cluster-1, cluster-2, ...",
  );
}

function helmCommand(config: CliConfig): Command {
  return clusterToolCommand("helm", config).description(
    "Run helm on the local fleet; choose a cluster with --kube-context",
  );
}

/** All arguments are the tool's. */
function clusterToolCommand(tool: "kubectl" | "helm", config: CliConfig): Command {
  return new Command(tool)
    .argument("[args...]")
    .helpOption(false)
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (args: readonly string[]) => {
      const { runClusterTool } = await import("./cluster-tool.ts");
      await runClusterTool(tool, args, config.dir, config);
    });
}
