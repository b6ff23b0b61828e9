/** The command tree: subcommands and flags. Actions import their code lazily, so that `--help` and kubectl stay fast. */

import { workspaceNamespace } from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import { dirOption, parseClusterCount, parseTimeout, withHubOptions } from "./options.ts";
import { requestCommands } from "./request-commands.ts";
import { simulateCommand } from "./simulate-command.ts";

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
    reconcileCommand(config),
    retryCommand(config),
    ...requestCommands(config),
    clusterCommand(config),
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
    .option("--local", "register the hub's own cluster as fleet-local/local")
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

function reconcileCommand(config: CliConfig): Command {
  const helmOp = requestCommand(
    "helmop",
    "Resolve the chart of a HelmOp now, even where polling is off, and reconcile its releases",
    config,
  )
    .option("--force", "also upgrade its releases, whatever their state")
    .option("--reset", "also forget their failed attempts")
    .action((name: string, options: RequestOptions) => request(name, options, config));
  return new Command("reconcile")
    .description("Request an immediate reconciliation")
    .addCommand(helmOp);
}

function retryCommand(config: CliConfig): Command {
  const description = "Try the releases of a HelmOp again that have no retries left";
  const helmOp = requestCommand("helmop", description, config).action(
    (name: string, options: RequestOptions) => request(name, { ...options, reset: true }, config),
  );
  return new Command("retry").description("Try failed releases again").addCommand(helmOp);
}

interface RequestOptions {
  readonly dir: string;
  readonly namespace: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly wait?: boolean;
  readonly timeout: number;
  readonly force?: boolean;
  readonly reset?: boolean;
}

function requestCommand(name: string, description: string, config: CliConfig): Command {
  return withHubOptions(new Command(name), config)
    .description(description)
    .argument("<name>", "name of the HelmOp")
    .option("-n, --namespace <name>", "namespace of the HelmOp", workspaceNamespace)
    .option("--wait", "wait until the HelmOp is ready")
    .addOption(
      new Option("--timeout <duration>", "how long to wait")
        .argParser(parseTimeout)
        .default(5 * 60_000, "5m"),
    );
}

async function request(
  name: string,
  { wait, timeout, ...options }: RequestOptions,
  config: CliConfig,
): Promise<void> {
  const { reconcile } = await import("./reconcile.ts");
  await reconcile({ name, ...options, ...(wait === true && { waitMs: timeout }) }, config);
}

function clusterCommand(config: CliConfig): Command {
  const revoke = withHubOptions(new Command("revoke"), config)
    .description("Revoke the certificate of a cluster's agent; installed releases stay")
    .argument("<name>", "name of the Cluster")
    .option("-n, --namespace <name>", "namespace of the Cluster", workspaceNamespace)
    .action(
      async (
        name: string,
        options: { dir: string; namespace: string; kubeconfig?: string; context?: string },
      ) => {
        const { revoke } = await import("./revoke.ts");
        await revoke({ name, ...options }, config);
      },
    );
  return new Command("cluster").description("Manage registered clusters").addCommand(revoke);
}

function rotateAuthorityCommand(config: CliConfig): Command {
  return withHubOptions(new Command("rotate-authority"), config)
    .description("Rotate the certificate authority of the hub; agents stay connected")
    .action(async (options: { dir: string; kubeconfig?: string; context?: string }) => {
      const { rotateAuthority } = await import("./rotate-authority.ts");
      await rotateAuthority(options, config);
    });
}

function uninstallCommand(config: CliConfig): Command {
  return withHubOptions(new Command("uninstall"), config)
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
      }: {
        dir: string;
        kubeconfig?: string;
        context?: string;
        keepReleases?: boolean;
        yes?: boolean;
        timeout: number;
      }) => {
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

/** All arguments are those of the tool. */
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
