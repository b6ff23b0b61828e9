/** The `flotilla` command: what it understands. What a command does is loaded when it is used. */
import { resolve } from "node:path";
import { workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { buildVersion } from "@flotilla/shared/buildinfo/build-version.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { parseGoDuration } from "@flotilla/shared/time/go-duration.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import type { SimulateOptions } from "./commands/simulate.ts";
import { readCliConfig } from "./config.ts";

/** Runs one command line. A failure is one line on standard error and exit code 1. */
export async function run(args: readonly string[]): Promise<void> {
  const config = readCliConfig();
  const dir = new Option("--dir <folder>", "the folder of the local fleet")
    .default(config.dir, ".flotilla")
    .argParser((text) => resolve(text));
  const program = new Command("flotilla")
    .description("Installs Helm charts on a whole fleet of Kubernetes clusters")
    .version(buildVersion)
    .showHelpAfterError()
    .enablePositionalOptions();

  program
    .command("up")
    .description("start a fleet on this machine: a hub, clusters, registries, agents and a sample")
    .addOption(dir)
    .option("--clusters <n>", "clusters besides the hub", parseCount, 2)
    .addOption(
      new Option("--provider <name>", "who makes the clusters")
        .choices(["embedded", "kind"])
        .default("embedded"),
    )
    .option("--detach", "return when the fleet is up, and leave it running", false)
    .option("--no-sample", "without the sample HelmOp")
    .option("--local", "the hub's own cluster is a member too, as local in fleet-local", false)
    .action(
      async (options: {
        dir: string;
        clusters: number;
        provider: "embedded" | "kind";
        detach: boolean;
        sample: boolean;
        local: boolean;
      }) => {
        const { up } = await import("./commands/up.ts");
        await up(options, config);
      },
    );
  program
    .command("down")
    .description("stop the fleet on this machine and remove what it kept")
    .addOption(dir)
    .action(async (options: { dir: string }) => {
      const { down } = await import("./commands/down.ts");
      await down(options.dir, config);
    });
  program
    .command("status")
    .description("what runs, where, and how the fleet is")
    .addOption(dir)
    .addOption(
      new Option("-o, --output <format>", "how it is printed")
        .choices(["text", "json"])
        .default("text"),
    )
    .action(async (options: { dir: string; output: "text" | "json" }) => {
      const { status } = await import("./commands/status.ts");
      await status(options.dir, options.output);
    });
  program
    .command("charts")
    .description("the local fleet's chart repositories")
    .command("publish")
    .description("package a chart and put it into both repositories of the local fleet")
    .argument("<folder>", "with a Chart.yaml")
    .addOption(dir)
    .option("--version <version>", "instead of the one in Chart.yaml")
    .option("--app-version <version>", "instead of the one in Chart.yaml")
    .action(
      async (folder: string, options: { dir: string; version?: string; appVersion?: string }) => {
        const { publish } = await import("./commands/publish.ts");
        await publish(folder, options);
      },
    );
  program
    .command("reconcile")
    .description("have the hub look at something now")
    .command("helmop")
    .description("resolve a HelmOp's chart anew and follow what is found, whatever it is")
    .argument("<name>")
    .addOption(dir)
    .option("-n, --namespace <name>", "of the HelmOp", workspaceNamespace)
    .option("--kubeconfig <file>", "of the hub; default: that of the local fleet")
    .option("--context <name>", "of the kubeconfig")
    .option("--wait", "until it was handled and is ready", false)
    .option("--timeout <duration>", "how long is waited", parseDuration, 5 * 60_000)
    .action(
      async (
        name: string,
        {
          wait,
          timeout,
          ...options
        }: {
          dir: string;
          namespace: string;
          kubeconfig?: string;
          context?: string;
          wait: boolean;
          timeout: number;
        },
      ) => {
        const { reconcile } = await import("./commands/reconcile.ts");
        await reconcile({ name, ...options, ...(wait && { waitMs: timeout }) }, config);
      },
    );
  program
    .command("cluster")
    .description("what is done with one cluster")
    .command("revoke")
    .description("end its agent's connection and let its key in no more; what is installed stays")
    .argument("<name>")
    .addOption(dir)
    .option("-n, --namespace <name>", "of the Cluster", workspaceNamespace)
    .option("--kubeconfig <file>", "of the hub; default: that of the local fleet")
    .option("--context <name>", "of the kubeconfig")
    .action(
      async (
        name: string,
        options: { dir: string; namespace: string; kubeconfig?: string; context?: string },
      ) => {
        const { revoke } = await import("./commands/revoke.ts");
        await revoke({ name, ...options }, config);
      },
    );
  program
    .command("rotate-authority")
    .description("have the hub change to another certificate authority, with its agents connected")
    .addOption(dir)
    .option("--kubeconfig <file>", "of the hub; default: that of the local fleet")
    .option("--context <name>", "of the kubeconfig")
    .action(async (options: { dir: string; kubeconfig?: string; context?: string }) => {
      const { rotateAuthority } = await import("./commands/rotate-authority.ts");
      await rotateAuthority(options, config);
    });
  program
    .command("simulate")
    .description("agents without clusters, to see what a hub does with many of them")
    .addOption(dir)
    .option("--agents <n>", "how many", parseWhole, 100)
    .option("--bundles <n>", "HelmOps to make that target them and nothing else", parseWhole, 0)
    .addOption(
      new Option("--latency <duration>", "of an installation, give or take half")
        .argParser(parseLatency)
        .default(1_000, "1s"),
    )
    .option("--failure-rate <rate>", "how many installations fail, 0 to 1", parseRate, 0)
    .option("--name <name>", "of the simulation; default: one that is new")
    .option("-n, --namespace <name>", "of the Clusters and HelmOps", workspaceNamespace)
    .option("--token-secret <name>", "to enrol with; default: a token is made, and deleted again")
    .option("--kubeconfig <file>", "of the hub; default: that of the local fleet")
    .option("--context <name>", "of the kubeconfig")
    .option("--keep", "leave Clusters, HelmOps and token on the hub at the end", false)
    .option("--remove <name>", "delete what a simulation of this name left, and do nothing else")
    .option("--log-file <file>", "where to append what the agents log")
    .addHelpText("after", simulateHelp)
    .action(async (options: SimulateOptions) => {
      const { simulate } = await import("./commands/simulate.ts");
      await simulate(options, config);
    });
  program
    .command("crds")
    .description("print the CustomResourceDefinitions as YAML")
    .action(async () => {
      const { crds } = await import("./commands/crds.ts");
      crds();
    });
  program
    .command("kubectl")
    .description(
      "kubectl with the local fleet's kubeconfig; contexts are hub, cluster-1, cluster-2 ...",
    )
    .argument("[args...]")
    .helpOption(false)
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (rest: readonly string[]) => {
      const { kubectl } = await import("./commands/kubectl.ts");
      await kubectl(rest, config.dir, config);
    });

  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (thrown) {
    process.stderr.write(`flotilla: ${AppError.from(thrown).message}\n`);
    process.exitCode = 1;
  }
}

const simulateHelp = `
Each agent enrols with a certificate request, has a connection of its own and speaks to the hub as a real one does, with
the same code. Only Helm and the cluster behind it are made up: an installation takes --latency and is Ready, or fails and is
tried again later. Nothing is downloaded or installed.

The Clusters are called NAME-1, NAME-2 ... and labelled simulation=NAME; HelmOps that target all clusters reach them too.
--bundles makes HelmOps NAME-1 ... with a chart that exists nowhere, so no repository is needed. To try an upgrade on all
of them, change the chart's address in such a HelmOp; to try your own charts, let a HelmOp target the label.

Ctrl-C ends the agents in good order and deletes what this simulation made, unless --keep is given; nothing else, whatever its
name or labels. With --token-secret no token is made and none deleted. A name that is taken is refused before anything is made.
What --keep left is not gone on with, since its agents' keys are gone: remove it with --remove NAME before that name is used
again.`;

function parseDuration(text: string): number {
  const durationMs = parseGoDuration(text);
  if (durationMs === undefined || durationMs <= 0)
    throw new InvalidArgumentError("expected a duration such as 90s or 5m.");
  return durationMs;
}

function parseLatency(text: string): number {
  const durationMs = parseGoDuration(text);
  if (durationMs === undefined || durationMs < 0)
    throw new InvalidArgumentError("expected a duration such as 500ms or 2s.");
  return durationMs;
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (text === "" || !(rate >= 0 && rate <= 1))
    throw new InvalidArgumentError("expected a number from 0 to 1, such as 0.05.");
  return rate;
}

function parseWhole(text: string): number {
  const count = Number(text);
  if (text === "" || !Number.isInteger(count) || count < 0)
    throw new InvalidArgumentError("expected a whole number.");
  return count;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 50)
    throw new InvalidArgumentError("expected a whole number from 1 to 50.");
  return count;
}
