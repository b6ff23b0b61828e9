/**
 * The Helm of a run of helmfile: answers what helmfile asks, records what it would have done, and changes nothing. Charts come from the
 * agent's own client, so that helmfile, and who wrote the file, needs no network and no credentials.
 */
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { accessTo } from "@flotilla/shared/source";
import { dependencyLocation } from "@flotilla/shared/source/chartbuild";
import { pathsInLine } from "@flotilla/shared/values";
import { agentErrors } from "../../base/errors/index.ts";
import type { ChartBytes, ChartDesk, ObtainedChart } from "../charts/chart-desk.ts";
import {
  type KnownRepositories,
  locationOf,
  type RunCredentials,
  type RunRepository,
} from "../charts/chart-location.ts";
import {
  type HelmCommand,
  type ListCommand,
  type LoginCommand,
  type PullCommand,
  parseHelmCommand,
  type RepositoryCommand,
} from "../command/helm-command.ts";
import type { UpgradeCommand, ValuesArgument } from "../command/upgrade-command.ts";
import type { RelayCommand, RelayEnd, RelayHands } from "../relay/open-relay.ts";
import type { RecordedUninstall, RecordedUpgrade, RecordedValues, Recording } from "./recording.ts";

export interface HelmAnswersOptions {
  readonly desk: ChartDesk;
  /** The program, inside of the sandbox as well, and its version: `v4.3.1`. */
  readonly helm: { readonly program: string; readonly version: string };
  /** Whether a release is installed, for `installed: false`, which helmfile uninstalls only then. */
  readonly isInstalled: (release: RecordedUninstall) => boolean;
}

/** `why` for people. */
export interface AnswerFailure {
  /** refused: the helmfile asks for what is not allowed. limit: for too much. failed: a chart could not be had, for instance. */
  readonly kind: "refused" | "limit" | "failed";
  readonly why: string;
}

const MiB = 1024 * 1024;
/** For all files with values of a run. */
const maxValuesBytes = 8 * MiB;
/** More than any helmfile needs: a few for each release. */
const maxCommands = 10_000;
/** For the folder of a chart. */
const maxFolderBytes = 64 * MiB;
const maxPasswordBytes = 64 * 1024;
/** Charts beside each other may depend on each other in a circle. */
const maxChartDepth = 8;

const done: RelayEnd = { code: 0 };

export class HelmAnswers {
  readonly #options: HelmAnswersOptions;
  readonly #repositories = new Map<string, RunRepository>();
  readonly #logins = new Map<string, RunCredentials>();
  /** The charts of the upgrades. */
  readonly #charts = new Map<string, ObtainedChart>();
  readonly #upgrades: RecordedUpgrade[] = [];
  readonly #uninstalls: RecordedUninstall[] = [];
  #failure: AnswerFailure | undefined;
  #valuesBytes = 0;
  #commands = 0;

  constructor(options: HelmAnswersOptions) {
    this.#options = options;
  }

  get recording(): Recording {
    return { upgrades: this.#upgrades, uninstalls: this.#uninstalls };
  }

  /** Why the first command was not carried out. helmfile's own output has it among much else. */
  get failure(): AnswerFailure | undefined {
    return this.#failure;
  }

  /** A command that is refused or fails ends with code 1. */
  async answer(
    { program, arguments: args, directory }: RelayCommand,
    hands: RelayHands,
  ): Promise<RelayEnd> {
    if (program === "git")
      return this.#fail("refused", "an address of Git inside of a helmfile is not supported");
    this.#commands += 1;
    if (this.#commands > maxCommands)
      return this.#fail("limit", `the helmfile ran more than ${maxCommands} commands`);
    const command = parseHelmCommand(args);
    if (command.kind === "refused") return this.#fail("refused", command.why);
    try {
      return await this.#answer(command, { hands, directory });
    } catch (thrown) {
      const subject = command.kind === "upgrade" ? `release ${command.name}: ` : "";
      const isLimit = thrown instanceof AppError && thrown.code === agentErrors.LIMIT_EXCEEDED.code;
      return this.#fail(isLimit ? "limit" : "failed", subject + messageOf(thrown));
    }
  }

  #count(valuesBytes: number): void {
    this.#valuesBytes += valuesBytes;
    if (this.#valuesBytes > maxValuesBytes)
      throw new AppError(
        agentErrors.LIMIT_EXCEEDED,
        `the values of the helmfile have more than ${maxValuesBytes / MiB} MiB`,
      );
  }

  #fail(kind: AnswerFailure["kind"], why: string): RelayEnd {
    this.#failure ??= { kind, why };
    return { code: 1, stderr: `Error: ${why}\n` };
  }

  async #answer(command: HelmCommand, place: Place): Promise<RelayEnd> {
    switch (command.kind) {
      case "version":
        return printed(`${this.#options.helm.version}\n`);
      case "plugins":
        return printed("NAME\tVERSION\tTYPE\tAPIVERSION\tPROVENANCE\tSOURCE\n");
      case "nothing":
        return done;
      case "repository":
        this.#repositories.set(command.name, {
          url: command.url,
          ...(await credentialsOf(command, place)),
          passCredentials: command.passesCredentials,
        });
        return done;
      case "login":
        this.#logins.set(command.host.toLowerCase(), await credentialsOf(command, place));
        return done;
      case "pull":
        return await this.#pull(command, place);
      case "show": {
        // helmfile asks after an upgrade, for a table, and does without an answer.
        const chart = this.#charts.get(referenceOf(command.chart, place));
        if (chart === undefined) return { code: 1, stderr: "Error: the chart was not planned\n" };
        return printed(`${JSON.stringify({ name: chart.name, version: chart.version })}\n`);
      }
      case "dependencies":
        await this.#completeChart(command.chart, place);
        return done;
      case "upgrade":
        return await this.#record(command, place);
      case "template":
        return {
          code: await place.hands.execute(this.#options.helm.program, command.arguments),
        };
      case "list":
        return printed(this.#list(command));
      case "uninstall":
        this.#uninstalls.push(releaseOf(command));
        return done;
    }
  }

  async #record(command: UpgradeCommand, place: Place): Promise<RelayEnd> {
    const { name, version, kubeContext, options } = command;
    const chart = await this.#chart(command.chart, version, place);
    this.#charts.set(referenceOf(command.chart, place), chart);
    const values: RecordedValues[] = [];
    for (const each of command.values) {
      const recorded = await recordedValues(each, place);
      for (const bytes of recorded.files.values()) this.#count(bytes.length);
      values.push(recorded);
    }
    this.#upgrades.push({
      ...releaseOf(command),
      ...(kubeContext !== undefined && { kubeContext }),
      ...(version !== undefined && version !== chart.version && { range: version }),
      chart,
      options,
      values,
    });
    return printed(`Release "${name}" is planned\n`);
  }

  /** A path of the run goes before all else, as in Helm. */
  async #chart(chart: string, version: string | undefined, place: Place): Promise<ObtainedChart> {
    const { desk } = this.#options;
    const local = await takeChart(chart, place);
    if (local !== undefined) return await desk.pack(local);
    const known: KnownRepositories = { repositories: this.#repositories, logins: this.#logins };
    const found = locationOf(chart, known);
    if (found.kind === "unknown") throw new Error(`${chartName(chart)} ${found.why}`);
    return await desk.download(found.location, version ?? "", found.access);
  }

  async #pull(command: PullCommand, place: Place): Promise<RelayEnd> {
    const { chart, version, includesDevelopment, destination = ".", unpacks } = command;
    if (!unpacks) throw new Error("helm pull is supported with --untar only");
    const constraint = version ?? (includesDevelopment ? ">0.0.0-0" : undefined);
    const obtained = await this.#chart(chart, constraint, place);
    await place.hands.unpack(
      pathFrom(place, destination),
      await this.#options.desk.unpacked(obtained),
    );
    return done;
  }

  /** `helm dependency build`: puts what a chart depends on into its folder `charts`. */
  async #completeChart(chart: string, place: Place, depth = 0): Promise<void> {
    const { desk } = this.#options;
    if (depth > maxChartDepth)
      throw new Error(`charts depend on each other over more than ${maxChartDepth} folders`);
    const local = await takeChart(chart, place);
    if (local?.kind !== "folder") return;
    const { dependencies, local: beside } = await desk.inspect(local);
    const put = async (each: ObtainedChart): Promise<void> => {
      const path = pathFrom(place, posix.join(chart, "charts", `${each.name}-${each.version}.tgz`));
      await place.hands.put(path, await readFile(each.file));
    };
    for (const dependency of dependencies) {
      const access = accessTo(dependencyLocation(dependency));
      await put(await desk.download(dependencyLocation(dependency), dependency.version, access));
    }
    for (const { path } of beside) {
      const other = posix.resolve(pathFrom(place, chart), path);
      await this.#completeChart(other, place, depth + 1);
      await put(await this.#chart(other, undefined, place));
    }
  }

  /** In the form of `helm list`, of which helmfile reads whether there is a line. */
  #list({ filter, namespace }: ListCommand): string {
    const name = /^\^([\w.-]+)\$$/.exec(filter)?.[1];
    if (name === undefined)
      throw new Error("helm list is supported for one name only: --filter ^NAME$");
    const release = { name, ...(namespace !== undefined && { namespace }) };
    const head = "NAME\tNAMESPACE\tREVISION\tUPDATED\tSTATUS\tCHART\tAPP VERSION\n";
    if (!this.#options.isInstalled(release)) return head;
    return `${head}${name}\t${namespace ?? "default"}\t1\t-\tdeployed\t-\t-\n`;
  }
}

/** Where a command runs. */
interface Place {
  readonly hands: RelayHands;
  readonly directory: string;
}

function pathFrom({ directory }: Place, path: string): string {
  return posix.resolve(directory, path);
}

/** Equal for equal charts of commands in different folders. */
function referenceOf(chart: string, place: Place): string {
  return /^\.{0,2}\//.test(chart) ? pathFrom(place, chart) : chart;
}

function printed(stdout: string): RelayEnd {
  return { code: 0, stdout };
}

function releaseOf({ name, namespace }: RecordedUninstall): RecordedUninstall {
  return { name, ...(namespace !== undefined && { namespace }) };
}

async function credentialsOf(
  { username, readsPassword, skipsVerification }: RepositoryCommand | LoginCommand,
  { hands }: Place,
): Promise<RunCredentials> {
  const input = readsPassword ? (await hands.input(maxPasswordBytes)).toString() : undefined;
  return {
    ...(username !== undefined && { username }),
    ...(input !== undefined && { password: input.replace(/\r?\n$/, "") }),
    ...(skipsVerification && { insecureSkipVerify: true }),
  };
}

/** For messages. An address may hold a password. */
function chartName(chart: string): string {
  return /^[\w./-]{1,200}$/.test(chart) ? `the chart ${chart}` : "its chart";
}

/** Undefined where there is nothing of that path. */
async function takeChart(chart: string, place: Place): Promise<ChartBytes | undefined> {
  if (/^[a-z]+:\/\//i.test(chart)) return undefined;
  const taken = await place.hands.take(pathFrom(place, chart), maxFolderBytes);
  const origin = `the chart ${chart}`;
  if (taken === undefined) return undefined;
  return taken.kind === "file"
    ? { kind: "archive", bytes: taken.bytes, origin }
    : { kind: "folder", bytes: taken.archive, origin };
}

async function recordedValues(argument: ValuesArgument, place: Place): Promise<RecordedValues> {
  const paths = pathsOf(argument);
  const files = new Map<string, Buffer>();
  for (const path of paths) {
    const taken = await place.hands.take(pathFrom(place, path), maxValuesBytes + 1);
    if (taken?.kind !== "file")
      throw new Error(`--${argument.flag}: ${path} is not a file of the run`);
    files.set(path, taken.bytes);
  }
  return { ...argument, files };
}

function pathsOf({ flag, text }: ValuesArgument): readonly string[] {
  if (flag === "values") return [text];
  return flag === "set-file" ? pathsInLine(text) : [];
}
