/** The flags of `flotilla tree`, `events`, `values`, `logs`, `diff` and `history`. */
import { appKinds, nameKinds } from "@flotilla/shared/api/apps";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { Command, Option } from "commander";
import type { CliConfig } from "../config.ts";
import { parseCount, withHubOptions, withRequestsOptions } from "./options.ts";
import type { LinesOptions, RequestOptions } from "./request.ts";
import { appTargets, kindWords } from "./target.ts";

export function requestCommands(config: CliConfig): readonly Command[] {
  return [
    treeCommand(config),
    eventsCommand(config),
    valuesCommand(config),
    logsCommand(config),
    diffCommand(config),
    historyCommand(config),
  ];
}

function logsCommand(config: CliConfig): Command {
  return requestCommand("logs", "Print the logs of the pods of a release")
    .option("--pod <name>", "only of this pod")
    .option("--container <name>", "only of this container")
    .option("--tail <lines>", "the last lines of each container", parseCount, 100)
    .option("--since <duration>", "only lines that are newer, such as 10m")
    .option("--previous", "of the containers before their last restart")
    .option("--test", "of the pods of the chart's tests")
    .action(
      async (
        target: readonly string[],
        options: RequestOptions & {
          readonly pod?: string;
          readonly container?: string;
          readonly tail: number;
          readonly since?: string;
          readonly previous?: boolean;
          readonly test?: boolean;
        },
      ) => {
        const { pod, container, tail, since, previous, test } = options;
        const { logs } = await import("./request.ts");
        const query = {
          pod,
          container,
          since,
          tail: String(tail),
          ...(previous === true && { previous: "true" }),
          ...(test === true && { tests: "true" }),
        };
        await logs(target, options, query, config);
      },
    );
}

function diffCommand(config: CliConfig): Command {
  const description =
    "Show how the objects of a release differ from its manifest; exit code 1 if one does";
  return requestCommand("diff", description).action(
    async (target: readonly string[], options: RequestOptions) => {
      const { diff } = await import("./request.ts");
      await diff(target, options, config);
    },
  );
}

function treeCommand(config: CliConfig): Command {
  const description = "Show the objects of a release, and what its workloads have created";
  return linesCommand("tree", description, config, async (...args) => {
    const { tree } = await import("./request.ts");
    await tree(...args);
  });
}

function eventsCommand(config: CliConfig): Command {
  const description = "List the events on the objects of a release, the newest first";
  return linesCommand("events", description, config, async (...args) => {
    const { events } = await import("./request.ts");
    await events(...args);
  });
}

function valuesCommand(config: CliConfig): Command {
  const description = "List the values of a release, and where each comes from";
  return linesCommand("values", description, config, async (...args) => {
    const { values } = await import("./request.ts");
    await values(...args);
  });
}

function historyCommand(config: CliConfig): Command {
  return linesCommand("history", "List the revisions of a release", config, async (...args) => {
    const { history } = await import("./request.ts");
    await history(...args);
  });
}

/** A command for a request that is answered with lines of JSON. */
function linesCommand(
  name: string,
  description: string,
  config: CliConfig,
  run: (target: readonly string[], options: LinesOptions, config: CliConfig) => Promise<void>,
): Command {
  return requestCommand(name, description)
    .addOption(
      new Option("-o, --output <format>", "output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .action((target: readonly string[], options: LinesOptions) => run(target, options, config));
}

function requestCommand(name: string, description: string): Command {
  return withRequestsOptions(withHubOptions(new Command(name)))
    .description(description)
    .argument("<target...>", `KIND NAME or KIND/NAME; a kind is ${kindWords(appTargets)}`)
    .option("-n, --namespace <name>", `namespace of the ${nameKinds(appKinds)}`, workspaceNamespace)
    .option("--cluster <name>", "name of the Cluster, if it is deployed to several");
}
