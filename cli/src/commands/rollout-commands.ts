/** The flags of `flotilla rollout`. */
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import type { RolloutChange } from "../rollout/index.ts";
import { parseTimeout, withHubOptions } from "./options.ts";
import type {
  ChangeOptions,
  ListOptions,
  OutputOptions,
  RolloutOptions,
  StatusOptions,
} from "./rollout.ts";
import { appTargets, kindWords } from "./target.ts";

export function rolloutCommand(config: CliConfig): Command {
  const command = new Command("rollout")
    .description("Show staged rollouts, and halt, resume, end or take them back")
    .addCommand(listCommand(config))
    .addCommand(statusCommand(config))
    .addCommand(historyCommand(config))
    .addCommand(retryCommand(config))
    .addCommand(skipCommand(config));
  for (const [name, description, changeOf] of changes) {
    const changing = changeCommand(name, description).action(
      async (target: readonly string[], options: ChangeOptions) => {
        const { change, newToken } = await import("./rollout.ts");
        await change(target, changeOf(newToken()), options, config);
      },
    );
    command.addCommand(changing);
  }
  return command;
}

const changes: readonly (readonly [string, string, (token: string) => RolloutChange])[] = [
  ["halt", "Promote no more clusters until it is resumed", () => ({ kind: "halt" })],
  [
    "resume",
    "Go on after a halt; what has failed until then is accepted",
    (token) => ({ kind: "resume", token }),
  ],
  ["cancel", "End it: clusters keep what they have", () => ({ kind: "cancel" })],
  ["rollback", "Give clusters back what they had before", () => ({ kind: "rollback" })],
  ["supersede", "End it, and start the newer revision that waits", () => ({ kind: "supersede" })],
];

function listCommand(config: CliConfig): Command {
  return withAllNamespaces(withOutput(rolloutSubcommand("list")))
    .description("List the newest rollout of each app, and what it waits for")
    .action(async (options: ListOptions) => {
      const { listRollouts } = await import("./rollout.ts");
      await listRollouts(options, config);
    });
}

function statusCommand(config: CliConfig): Command {
  return withOutput(rolloutSubcommand("status"))
    .description("Show the newest rollout of an app: its stages, and what it waits for")
    .argument(...appArgument)
    .option(
      "-w, --watch",
      "until it ends; exit code 0 if it is completed, 1 if it is halted, taken back, cancelled or superseded, 2 if that is not known",
    )
    .addOption(
      new Option(
        "--timeout <duration>",
        "how long to watch, such as 1h (default: until it ends)",
      ).argParser(parseTimeout),
    )
    .action(async (target: readonly string[], options: StatusOptions) => {
      const { rolloutStatus } = await import("./rollout.ts");
      await rolloutStatus(target, options, config);
    });
}

function historyCommand(config: CliConfig): Command {
  return withOutput(rolloutSubcommand("history"))
    .description("List the rollouts of an app, and who decided what in them")
    .argument(...appArgument)
    .action(async (target: readonly string[], options: RolloutOptions & OutputOptions) => {
      const { rolloutHistoryOf } = await import("./rollout.ts");
      await rolloutHistoryOf(target, options, config);
    });
}

function retryCommand(config: CliConfig): Command {
  return changeCommand("retry", "Start the revision again, from its first stage")
    .option("--failed", "only have the failed clusters try again, and go on where it was halted")
    .action(
      async (
        target: readonly string[],
        { failed = false, ...options }: ChangeOptions & { readonly failed?: boolean },
      ) => {
        const { change, newToken } = await import("./rollout.ts");
        const asked: RolloutChange = failed
          ? { kind: "retry-failed", token: newToken() }
          : { kind: "retry" };
        await change(target, asked, options, config);
      },
    );
}

function skipCommand(config: CliConfig): Command {
  return withYes(rolloutSubcommand("skip"))
    .description("Leave out a cluster or a stage: nothing is promoted there, and nothing waits")
    .argument(
      "<words...>",
      "CLUSTER and the app, as in `skip lab-3 helmop/web`; with --stage the app alone",
    )
    .option("--stage <name>", "the stage, which is passed over with its gates")
    .action(
      async (
        words: readonly string[],
        { stage, ...options }: ChangeOptions & { readonly stage?: string },
      ) => {
        const { change, parseSkip } = await import("./rollout.ts");
        const asked = parseSkip(words, { namespace: options.namespace, stage });
        await change(asked.target, asked.change, options, config);
      },
    );
}

function changeCommand(name: string, description: string): Command {
  return withYes(rolloutSubcommand(name))
    .description(description)
    .argument(...appArgument);
}

/** The argument of commands that are for one app. */
export const appArgument = [
  "<app...>",
  `NAME of a HelmOp, or KIND NAME or KIND/NAME; a kind is ${kindWords(appTargets)}`,
] as const;

/** A subcommand for the objects of one namespace of a hub. */
export function rolloutSubcommand(name: string): Command {
  return withHubOptions(new Command(name)).option(
    "-n, --namespace <name>",
    "namespace of the app",
    workspaceNamespace,
  );
}

export function withOutput(command: Command): Command {
  return command.addOption(
    new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"),
  );
}

export function withAllNamespaces(command: Command): Command {
  return command.option("-A, --all-namespaces", "of all namespaces");
}

export function withYes(command: Command): Command {
  return command.option("--yes", "do it without asking");
}
