/** The flags of `flotilla reconcile`, `retry`, `suspend` and `resume`. */
import { appKinds, nameKinds, takesRequest } from "@flotilla/shared/api/apps";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import { parseTimeout, withHubOptions } from "./options.ts";
import type { TargetOptions } from "./reconcile.ts";
import { kindWords, reconciledKinds } from "./target.ts";

export function changeCommands(config: CliConfig): readonly Command[] {
  return [
    reconcileCommand(config),
    retryCommand(config),
    suspendCommand(
      "suspend",
      "Suspend an object: what is installed stays, and nothing changes it",
      config,
    ),
    suspendCommand("resume", "Resume a suspended object", config),
  ];
}

const polledKinds = appKinds.filter((kind) => takesRequest(kind, "poll"));

type ChangeOptions = Omit<TargetOptions, "target">;

interface RequestOptions extends ChangeOptions {
  readonly wait?: boolean;
  readonly timeout: number;
  readonly correctDrift?: boolean;
  readonly force?: boolean;
  readonly reset?: boolean;
  readonly poll?: boolean;
}

function reconcileCommand(config: CliConfig): Command {
  const command = changeCommand(
    "reconcile",
    "Read the source of a chart now, even where polling is off, and reconcile the releases",
  )
    .option("--correct-drift", "also change back, once, what others have changed in their objects")
    .option("--force", "also upgrade the releases, whatever their state")
    .option("--reset", "also forget their failed attempts")
    .addOption(
      new Option("--poll", `only poll the source of a ${nameKinds(polledKinds)}`).conflicts([
        ...["correctDrift", "force", "reset", "wait"],
      ]),
    );
  return withWait(command).action((target: readonly string[], options: RequestOptions) =>
    request(target, options, config),
  );
}

function retryCommand(config: CliConfig): Command {
  const command = changeCommand("retry", "Try releases again that have no retries left");
  return withWait(command).action((target: readonly string[], options: RequestOptions) =>
    request(target, { ...options, reset: true }, config),
  );
}

function suspendCommand(
  name: "suspend" | "resume",
  description: string,
  config: CliConfig,
): Command {
  return changeCommand(name, description).action(
    async (target: readonly string[], options: ChangeOptions) => {
      const { setSuspended } = await import("./reconcile.ts");
      await setSuspended(name === "suspend", { target, ...options }, config);
    },
  );
}

function changeCommand(name: string, description: string): Command {
  return withHubOptions(new Command(name))
    .description(description)
    .argument("<target...>", `KIND NAME or KIND/NAME; a kind is ${kindWords(reconciledKinds)}`)
    .option("-n, --namespace <name>", "namespace of the object", workspaceNamespace);
}

function withWait(command: Command): Command {
  return command
    .option("--wait", "wait until the object is ready")
    .addOption(
      new Option("--timeout <duration>", "how long to wait")
        .argParser(parseTimeout)
        .default(5 * 60_000, "5m"),
    );
}

async function request(
  target: readonly string[],
  { wait, timeout, ...options }: RequestOptions,
  config: CliConfig,
): Promise<void> {
  const { reconcile } = await import("./reconcile.ts");
  await reconcile({ target, ...options, ...(wait === true && { waitMs: timeout }) }, config);
}
