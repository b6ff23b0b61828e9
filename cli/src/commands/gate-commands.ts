/** The flags of `flotilla gate`, `flotilla approve` and `flotilla reject`. */
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import type { ApproveOptions, DecideOptions, WaitOptions } from "./gate.ts";
import { parseTimeout, withRequestsOptions } from "./options.ts";
import type { ListOptions, OutputOptions } from "./rollout.ts";
import {
  appArgument,
  rolloutSubcommand,
  withAllNamespaces,
  withOutput,
  withYes,
} from "./rollout-commands.ts";

export function gateCommands(config: CliConfig): readonly Command[] {
  return [
    new Command("gate")
      .description("Show what rollouts wait for, and pass or fail external gates")
      .addCommand(listCommand(config))
      .addCommand(getCommand(config))
      .addCommand(decideCommand("pass", config))
      .addCommand(decideCommand("fail", config)),
    approveCommand("approve", config),
    approveCommand("reject", config),
  ];
}

function listCommand(config: CliConfig): Command {
  return withAllNamespaces(withOutput(rolloutSubcommand("list")))
    .description("List Gates: what each is about, and who has decided")
    .option("--waiting", "only those that are not decided")
    .action(async (options: ListOptions & { readonly waiting?: boolean }) => {
      const { listGates } = await import("./gate.ts");
      await listGates(options, config);
    });
}

function getCommand(config: CliConfig): Command {
  return withWait(withOutput(rolloutSubcommand("get")))
    .description("Show a Gate; with --wait once it is decided")
    .argument(...gateArgument)
    .action(async (target: readonly string[], options: WaitOptions & OutputOptions) => {
      const { getGate } = await import("./gate.ts");
      await getGate(target, options, config);
    });
}

function decideCommand(name: "pass" | "fail", config: CliConfig): Command {
  return withYes(withWait(rolloutSubcommand(name)))
    .description(
      name === "pass"
        ? "Pass an external gate, under your own name"
        : "Fail an external gate, which halts the rollout or takes it back",
    )
    .argument(...gateArgument)
    .option(...messageOption)
    .action(async (target: readonly string[], options: DecideOptions) => {
      const { decideGate } = await import("./gate.ts");
      await decideGate(name === "pass" ? "Passed" : "Failed", target, options, config);
    });
}

function approveCommand(name: "approve" | "reject", config: CliConfig): Command {
  return withRequestsOptions(rolloutSubcommand(name))
    .description(
      name === "approve"
        ? "Approve what a rollout waits for, under your own name"
        : "Reject what a rollout waits for, which halts it or takes it back",
    )
    .argument(
      "<app...>",
      `${appArgument[1]}; then the digest of what it is about, which is required without a terminal, and where a plan cannot be shown`,
    )
    .option("--stage <name>", "the stage that waits")
    .option(...messageOption)
    .action(async (words: readonly string[], options: ApproveOptions) => {
      const { approve } = await import("./gate.ts");
      await approve(name === "approve" ? "Passed" : "Failed", words, options, config);
    });
}

const gateArgument = ["<gate...>", "NAME or gate/NAME"] as const;
const messageOption = ["--message <text>", "why, or the number of a ticket; it is kept"] as const;

function withWait(command: Command): Command {
  return command
    .option(
      "--wait",
      "until the hub has stored how it ended; exit code 0 if as asked for, 1 if not, 2 if that is not known",
    )
    .addOption(
      new Option("--timeout <duration>", "how long to wait")
        .argParser(parseTimeout)
        .default(5 * 60_000, "5m"),
    );
}
