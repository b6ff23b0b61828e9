/** What a command line of helmfile asks of Helm. Pure. */
import { type Flag, type FlagProblem, type FlagTable, type ReadFlags, readFlags } from "./flags.ts";
import { type Refusal, type UpgradeCommand, upgradeCommand } from "./upgrade-command.ts";
import { refusalOf, upgradeTable, valuesFlags } from "./upgrade-flags.ts";

export type HelmCommand =
  | UpgradeCommand
  | { readonly kind: "version" }
  | { readonly kind: "plugins" }
  /** It is done by itself: indexes are read when a chart is, and logins are kept for the run. */
  | { readonly kind: "nothing" }
  | RepositoryCommand
  | LoginCommand
  | PullCommand
  | { readonly kind: "show"; readonly chart: string }
  /** `chart`: a folder. */
  | { readonly kind: "dependencies"; readonly chart: string }
  | TemplateCommand
  | ListCommand
  | UninstallCommand;

export interface RepositoryCommand {
  readonly kind: "repository";
  readonly name: string;
  readonly url: string;
  readonly username?: string;
  /** The password is on standard input. */
  readonly readsPassword: boolean;
  readonly passesCredentials: boolean;
  readonly skipsVerification: boolean;
}

export interface LoginCommand {
  readonly kind: "login";
  readonly host: string;
  readonly username?: string;
  readonly readsPassword: boolean;
  readonly skipsVerification: boolean;
}

export interface PullCommand {
  readonly kind: "pull";
  readonly chart: string;
  readonly version?: string;
  readonly includesDevelopment: boolean;
  /** A folder; the working directory if it is absent. */
  readonly destination?: string;
  /** The folder of that name in it gets the files, in place of the archive. */
  readonly unpacks: boolean;
}

export interface TemplateCommand {
  readonly kind: "template";
  /** The whole command line, for Helm itself, without what would ask a cluster. */
  readonly arguments: readonly string[];
}

export interface ListCommand {
  readonly kind: "list";
  /** A regular expression for names. */
  readonly filter: string;
  readonly namespace?: string;
}

export interface UninstallCommand {
  readonly kind: "uninstall";
  readonly name: string;
  readonly namespace?: string;
}

export interface RefusedCommand {
  readonly kind: "refused";
  /** A sentence for people, which names the command, the release and the flag, and no value. */
  readonly why: string;
}

interface CommandRule {
  /** `upgrade`, `repo add`. */
  readonly words: readonly string[];
  readonly table: FlagTable;
  readonly read: (given: ReadFlags) => HelmCommand | Refusal;
}

export function parseHelmCommand(line: readonly string[]): HelmCommand | RefusedCommand {
  // helmfile writes the context before every command, and again where a release has one.
  const args = line[0] === "--kube-context" ? line.slice(2) : line;
  const rule = rules.find(({ words }) => words.every((word, at) => args[at] === word));
  if (rule === undefined) return refused("helm", undefined, unknownCommand(args));
  const command = `helm ${rule.words.join(" ")}`;
  const given = readFlags(args.slice(rule.words.length), rule.table);
  const [subject] = given.positionals;
  if (given.problem !== undefined) return refused(command, subject, flagRefusal(given.problem));
  const result = rule.read(given);
  return "kind" in result ? result : refused(command, subject, result);
}

function unknownCommand(args: readonly string[]): Refusal {
  const [first = ""] = args;
  if (first.startsWith("-"))
    return flagRefusal({ kind: "unknown", flag: first.split("=", 1)[0] ?? first });
  // A word of a command; anything else may be what its author wanted kept secret.
  const word = /^[a-z]{1,20}$/.test(first) ? ` ${first}` : "";
  return { why: `the command helm${word} is not one that a helmfile may run here` };
}

function flagRefusal(problem: FlagProblem): Refusal {
  const { flag } = problem;
  switch (problem.kind) {
    case "unknown":
      return { flag, why: refusalOf(flag) };
    case "no-value":
      return { flag, why: "it has no value" };
    case "no-switch":
      return { flag, why: "expected true or false" };
  }
}

function refused(
  command: string,
  subject: string | undefined,
  { flag, why }: Refusal,
): RefusedCommand {
  // The name of a release or repository; an address may have a password.
  const isName = subject !== undefined && /^[\w.-]{1,60}$/.test(subject);
  const about = isName ? `${command} ${subject}` : command;
  return { kind: "refused", why: `${about}:${flag === undefined ? "" : ` ${flag}:`} ${why}` };
}

const on: Flag = { kind: "switch" };
const text: Flag = { kind: "text" };

const credentialFlags = {
  username: text,
  "password-stdin": on,
  "insecure-skip-tls-verify": on,
  insecure: on,
} as const;

const downloadFlags = {
  version: text,
  devel: on,
  "plain-http": on,
  "insecure-skip-tls-verify": on,
  verify: on,
  keyring: text,
} as const;

const stateFlags = Object.fromEntries(
  ["uninstalling", "deployed", "failed", "pending"].map((name) => [name, on]),
);

/** What chartify and kustomize use. `dry-run` would ask a cluster, which the run does not reach. */
const templateTable: FlagTable = {
  flags: {
    ...valuesFlags,
    namespace: text,
    "name-template": text,
    "output-dir": text,
    "include-crds": on,
    "skip-tests": on,
    "skip-schema-validation": on,
    "kube-version": text,
    "api-versions": text,
    debug: on,
    "dry-run": { kind: "optional", alone: "client" },
    "kube-context": text,
  },
  letters: { a: "api-versions", f: "values", n: "namespace" },
};

const unusedByTemplate: readonly string[] = ["dry-run", "kube-context"];

function templateCommand({ positionals, flags }: ReadFlags): HelmCommand | Refusal {
  if (positionals.length === 0) return needsChart;
  const used = flags.filter(({ name }) => !unusedByTemplate.includes(name));
  const args = used.map(({ name, value }) => `--${name}=${value}`);
  return { kind: "template", arguments: ["template", ...args, "--", ...positionals] };
}

const needsChart: Refusal = { why: "it needs a chart" };

/** The first rule whose words the command begins with. */
const rules: readonly CommandRule[] = [
  {
    words: ["version"],
    table: { flags: { short: on, template: text } },
    read: () => ({ kind: "version" }),
  },
  { words: ["plugin", "list"], table: { flags: {} }, read: () => ({ kind: "plugins" }) },
  {
    words: ["repo", "add"],
    table: { flags: { ...credentialFlags, "force-update": on, "pass-credentials": on } },
    read: ({ positionals: [name, url], flags }) =>
      name === undefined || url === undefined
        ? { why: "it needs a name and an address" }
        : {
            kind: "repository",
            name,
            url,
            ...usernameOf(flags),
            readsPassword: isOn(flags, "password-stdin"),
            passesCredentials: isOn(flags, "pass-credentials"),
            skipsVerification: isOn(flags, "insecure-skip-tls-verify"),
          },
  },
  { words: ["repo", "update"], table: { flags: {} }, read: () => ({ kind: "nothing" }) },
  { words: ["repo", "list"], table: { flags: {} }, read: () => ({ kind: "nothing" }) },
  {
    words: ["registry", "login"],
    table: { flags: credentialFlags },
    read: ({ positionals: [host], flags }) =>
      host === undefined
        ? { why: "it needs a host" }
        : {
            kind: "login",
            host,
            ...usernameOf(flags),
            readsPassword: isOn(flags, "password-stdin"),
            skipsVerification: isOn(flags, "insecure"),
          },
  },
  { words: ["registry", "logout"], table: { flags: {} }, read: () => ({ kind: "nothing" }) },
  ...["pull", "fetch"].map((word) => pullRule(word)),
  {
    words: ["show", "chart"],
    table: { flags: downloadFlags },
    read: ({ positionals: [chart] }) =>
      chart === undefined ? needsChart : { kind: "show", chart },
  },
  ...["build", "update", "up"].map((word) => dependencyRule(word)),
  {
    words: ["upgrade"],
    table: upgradeTable,
    read: upgradeCommand,
  },
  { words: ["template"], table: templateTable, read: templateCommand },
  {
    words: ["list"],
    table: { flags: { ...stateFlags, filter: text, namespace: text, "kube-context": text } },
    read: ({ flags }) => ({
      kind: "list",
      filter: lastOf(flags, "filter") ?? "",
      ...namespaceOf(flags),
    }),
  },
  ...["delete", "uninstall"].map((word) => uninstallRule(word)),
];

function pullRule(word: string): CommandRule {
  const flags = { ...downloadFlags, destination: text, untar: on, untardir: text };
  return {
    words: [word],
    table: { flags, letters: { d: "destination" } },
    read: ({ positionals: [chart], flags: given }) => {
      if (chart === undefined) return needsChart;
      const destination = lastOf(given, "untardir") ?? lastOf(given, "destination");
      return {
        kind: "pull",
        chart,
        ...versionOf(given),
        includesDevelopment: isOn(given, "devel"),
        ...(destination !== undefined && { destination }),
        unpacks: isOn(given, "untar"),
      };
    },
  };
}

function dependencyRule(word: string): CommandRule {
  const flags = { "skip-refresh": on, "plain-http": on, verify: on, keyring: text };
  return {
    words: ["dependency", word],
    table: { flags },
    read: ({ positionals: [chart] }) =>
      chart === undefined ? needsChart : { kind: "dependencies", chart },
  };
}

function uninstallRule(word: string): CommandRule {
  const flags = {
    namespace: text,
    wait: { kind: "optional", alone: "watcher" },
    timeout: text,
    cascade: text,
    "kube-context": text,
  } as const;
  return {
    words: [word],
    table: { flags, letters: { n: "namespace" } },
    read: ({ positionals: [name], flags: given }) =>
      name === undefined
        ? { why: "it needs the name of a release" }
        : { kind: "uninstall", name, ...namespaceOf(given) },
  };
}

type Given = ReadFlags["flags"];

function lastOf(flags: Given, name: string): string | undefined {
  return flags.findLast((each) => each.name === name)?.value;
}

function isOn(flags: Given, name: string): boolean {
  return lastOf(flags, name) === "true";
}

function usernameOf(flags: Given): { readonly username?: string } {
  const username = lastOf(flags, "username");
  return username === undefined ? {} : { username };
}

function versionOf(flags: Given): { readonly version?: string } {
  const version = lastOf(flags, "version");
  return version === undefined ? {} : { version };
}

function namespaceOf(flags: Given): { readonly namespace?: string } {
  const namespace = lastOf(flags, "namespace");
  return namespace === undefined ? {} : { namespace };
}
