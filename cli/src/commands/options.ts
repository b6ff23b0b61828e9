/** Flags that several commands have, and parsers of their values. */
import { resolve } from "node:path";
import { requestsServiceAccount } from "@flotilla/shared/api/names";
import { parseGoDuration } from "@flotilla/shared/time";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CliConfig } from "../config.ts";

const maxClusters = 50;

export function dirOption(config: CliConfig): Option {
  return new Option("--dir <folder>", "folder of the local fleet")
    .default(config.dir, ".flotilla")
    .argParser((text) => resolve(text));
}

/** The flags that select a hub: `HubOptions`. */
export function withHubOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--kubeconfig <file>",
        "kubeconfig of the hub (default: $KUBECONFIG, else a local fleet in this folder, else ~/.kube/config)",
      ).conflicts(["local", "dir"]),
    )
    .option("--context <name>", "context in the kubeconfig (default: its current context)")
    .option("--local", "use the hub of the local fleet")
    .addOption(
      new Option("--dir <folder>", "use the hub of the local fleet in this folder").argParser(
        (text) => resolve(text),
      ),
    );
}

/** The flags of what asks the hub itself: with whose token, and where. */
export function withRequestsOptions(command: Command): Command {
  return command
    .option(
      "--service-account <name>",
      "NAME, in that namespace, or NAMESPACE/NAME: the account of the hub's cluster that reads",
      requestsServiceAccount,
    )
    .option("--hub-url <url>", "address of the hub's HTTP port (default: over the API server)")
    .option("--hub-service <name>", "name of the hub's Service", "flotilla");
}

/** Milliseconds, more than 0. */
export function parseTimeout(text: string): number {
  const durationMs = parseGoDuration(text);
  if (durationMs === undefined || durationMs <= 0)
    throw new InvalidArgumentError("expected a duration such as 90s or 5m.");
  return durationMs;
}

/** Milliseconds, 0 or more. */
export function parseLatency(text: string): number {
  const durationMs = parseGoDuration(text);
  if (durationMs === undefined || durationMs < 0)
    throw new InvalidArgumentError("expected a duration such as 500ms or 2s.");
  return durationMs;
}

export function parseRate(text: string): number {
  const rate = Number(text);
  if (text === "" || !(rate >= 0 && rate <= 1))
    throw new InvalidArgumentError("expected a number from 0 to 1, such as 0.05.");
  return rate;
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (text === "" || !Number.isInteger(count) || count < 0)
    throw new InvalidArgumentError("expected a whole number.");
  return count;
}

export function parseClusterCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > maxClusters)
    throw new InvalidArgumentError(`expected a whole number from 1 to ${maxClusters}.`);
  return count;
}
