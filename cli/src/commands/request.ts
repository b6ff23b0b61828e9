/**
 * `flotilla tree`, `events`, `values`, `logs`, `diff` and `history`: ask the agent of one cluster, by way of the hub. The hub gets a token
 * that the API server issues for it alone, whatever the credentials of the kubeconfig are.
 */
import type { CliConfig } from "../config.ts";
import { type AskOptions, askHub } from "../fleet/index.ts";
import { eventTable } from "./event-table.ts";
import { historyTable } from "./history-table.ts";
import { printable } from "./printable.ts";
import { resourceTree } from "./resource-tree.ts";
import { appTargets, parseTarget } from "./target.ts";
import { valueTable } from "./value-table.ts";

export interface RequestOptions extends Omit<AskOptions, "path" | "query"> {
  readonly namespace: string;
  readonly cluster?: string;
}

type Query = Readonly<Record<string, string | undefined>>;

export async function logs(
  target: readonly string[],
  options: RequestOptions,
  query: Query,
  config: CliConfig,
): Promise<void> {
  await request("log", target, options, query, config, (text) => process.stdout.write(text));
}

/** The exit code is as with `kubectl diff`: 1 when something differs, more than 1 when it could not be compared. */
export async function diff(
  target: readonly string[],
  options: RequestOptions,
  config: CliConfig,
): Promise<void> {
  const parts: string[] = [];
  // If it fails.
  process.exitCode = 2;
  try {
    await request("diff", target, options, {}, config, (text) => void parts.push(text));
  } finally {
    process.stdout.write(printable(parts.join("")));
  }
  process.exitCode = parts.length === 0 ? 0 : 1;
  if (parts.length === 0) process.stdout.write("no differences\n");
}

export type LinesOptions = RequestOptions & { readonly output: "text" | "json" };

export function history(
  target: readonly string[],
  options: LinesOptions,
  config: CliConfig,
): Promise<void> {
  return printLines("history", target, options, config, historyTable);
}

export function tree(
  target: readonly string[],
  options: LinesOptions,
  config: CliConfig,
): Promise<void> {
  return printLines("resources", target, options, config, resourceTree);
}

export function events(
  target: readonly string[],
  options: LinesOptions,
  config: CliConfig,
): Promise<void> {
  return printLines("events", target, options, config, eventTable);
}

export function values(
  target: readonly string[],
  options: LinesOptions,
  config: CliConfig,
): Promise<void> {
  return printLines("values", target, options, config, valueTable);
}

/** Prints lines of JSON as they are, or as `format` makes them readable. */
async function printLines(
  what: RequestKind,
  target: readonly string[],
  options: LinesOptions,
  config: CliConfig,
  format: (lines: string) => string,
): Promise<void> {
  const parts: string[] = [];
  await request(what, target, options, {}, config, (text) => void parts.push(text));
  const lines = parts.join("");
  process.stdout.write(printable(options.output === "json" ? lines : format(lines)));
}

type RequestKind = "log" | "diff" | "history" | "resources" | "events" | "values";

async function request(
  what: RequestKind,
  target: readonly string[],
  options: RequestOptions,
  query: Query,
  config: CliConfig,
  print: (text: string) => void,
): Promise<void> {
  const { namespace, cluster } = options;
  const { resource, name } = parseTarget(target, appTargets);
  const path = `/requests/v1/namespaces/${namespace}/${resource.plural}/${name}/${what}`;
  await askHub({ ...options, path, query: { cluster, ...query } }, config, print);
}
