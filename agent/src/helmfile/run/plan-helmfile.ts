/**
 * Plans a helmfile: the real helmfile evaluates it in the sandbox, with the relay as its Helm, and what it would have had Helm do
 * becomes a plan. Nothing is changed in the cluster, and nothing of a run is left.
 */
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { AppError, type ErrorKind } from "@flotilla/shared/errors";
import type { ProcessLimits, ProcessWatch } from "@flotilla/shared/process";
import type { SourceClient } from "@flotilla/shared/source/client";
import { cutText } from "@flotilla/shared/text";
import type { Values } from "@flotilla/shared/values";
import { agentErrors } from "../../base/errors/index.ts";
import type { Readers } from "../../inputs/index.ts";
import { runInSandbox, type Sandbox } from "../../sandbox/index.ts";
import { createChartDesk, type ObtainedChart } from "../charts/chart-desk.ts";
import { buildPlan, type PlannedUpgrade } from "../plan/build-plan.ts";
import { finalValues, type ReadValuesFile } from "../plan/final-values.ts";
import {
  type BuiltRelease,
  builtReleases,
  type ListedRelease,
  listSchema,
} from "../plan/helmfile-output.ts";
import {
  type HelmfilePlan,
  type ReleaseRef,
  releaseId,
  valuesDigest,
} from "../plan/helmfile-plan.ts";
import { HelmAnswers } from "../recording/helm-answers.ts";
import type { RecordedUpgrade } from "../recording/recording.ts";
import { openRelay, type Relay } from "../relay/open-relay.ts";

/** The programs of a run; each is linked statically. */
export interface HelmfilePrograms {
  readonly helmfile: string;
  readonly relay: string;
  readonly helm: string;
  readonly kustomize: string;
}

export interface PlanHelmfileDeps {
  readonly programs: HelmfilePrograms;
  /** `v1.7.4` and `v4.3.1`. */
  readonly versions: { readonly helmfile: string; readonly helm: string };
  readonly sandbox: Sandbox;
  readonly client: Pick<SourceClient, "resolve" | "fetch">;
  readonly readers: Pick<Readers, "run">;
  readonly readYaml: ReadValuesFile;
  readonly watch: ProcessWatch;
  readonly limits: ProcessLimits;
  /** Where folders of runs are made. Its path is short: the socket of the relay is in it. */
  readonly dir: string;
}

export interface HelmfileRequest {
  /** The files of the source; the run changes them, and the caller removes them. */
  readonly tree: string;
  /** A file or folder of the tree; absent: `helmfile.yaml`, `helmfile.yaml.gotmpl` or `helmfile.d`. */
  readonly file?: string;
  readonly environment?: string;
  /** Paths in the tree, in their order. */
  readonly stateValuesFiles?: readonly string[];
  /** `name=web`, `tier!=frontend`. */
  readonly selectors?: readonly string[];
  /** What `env` and `requiredEnv` read. */
  readonly variables?: Readonly<Record<string, string>>;
  /** For releases without one in the helmfile. */
  readonly defaultNamespace: string;
  /** The key of the digests of values. */
  readonly key: Uint8Array;
  readonly isInstalled: (release: ReleaseRef) => boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A release with what it is made of. */
export interface PlannedWork extends ReleaseRef {
  readonly chart: ObtainedChart;
  readonly values: Values;
}

export interface PlannedHelmfile {
  readonly plan: HelmfilePlan;
  readonly work: readonly PlannedWork[];
}

const MiB = 1024 * 1024;
/** For all values and charts of a run. */
const maxSentBytes = 96 * MiB;
const maxOutputBytes = 8 * MiB;
/** helmfile's own limit is one for each release. */
const concurrency = 4;

/**
 * `use` gets the plan while the archives of its charts are there. Throws HELMFILE_FAILED, HELMFILE_INVALID, LIMIT_EXCEEDED and
 * SANDBOX_UNAVAILABLE; what is deployed stays after each of them.
 */
export async function planHelmfile<T>(
  deps: PlanHelmfileDeps,
  request: HelmfileRequest,
  use: (planned: PlannedHelmfile) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(deps.dir, "hf-"));
  try {
    return await use(await plan(deps, request, dir));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function plan(
  deps: PlanHelmfileDeps,
  request: HelmfileRequest,
  dir: string,
): Promise<PlannedHelmfile> {
  const { client, readers, programs, versions, readYaml } = deps;
  const { timeoutMs, signal, defaultNamespace } = request;
  const charts = join(dir, "charts");
  await mkdir(charts, { mode: 0o700 });
  const answers = new HelmAnswers({
    desk: createChartDesk({ client, readers, dir: charts, timeoutMs, signal }),
    helm: { program: programs.helm, version: versions.helm },
    isInstalled: ({ name, namespace }) =>
      request.isInstalled({ name, namespace: namespace ?? defaultNamespace }),
  });
  await using relay = await openRelay({
    path: join(dir, "relay"),
    answer: (command, hands) => answers.answer(command, hands),
    maxBytes: maxSentBytes,
  });
  const run = await openRun(deps, request, { dir, relay, answers });
  const listed = readList(await run(["list", "--skip-charts", "--output", "json"]));
  await run(["sync", `--concurrency=${concurrency}`]);
  // Last, because it loads charts as well and names no repositories.
  const built = await readBuilt(await run(["build"]), readYaml);
  const works = await Promise.all(
    answers.recording.upgrades.map((upgrade) => workOf(upgrade, request, readYaml)),
  );
  const result = buildPlan({
    listed,
    built,
    upgrades: works.map(({ upgrade }) => upgrade),
    helmfile: versions.helmfile,
    defaultNamespace,
  });
  if (result.kind === "invalid") throw failed(agentErrors.HELMFILE_INVALID, result.why);
  return { plan: result.plan, work: works.map(({ work }) => work) };
}

async function workOf(
  upgrade: RecordedUpgrade,
  { defaultNamespace, key }: HelmfileRequest,
  readYaml: ReadValuesFile,
): Promise<{ readonly upgrade: PlannedUpgrade; readonly work: PlannedWork }> {
  const { name, chart, range, options, kubeContext } = upgrade;
  const namespace = upgrade.namespace ?? defaultNamespace;
  const values = await finalValues(upgrade.values, readYaml, releaseId({ namespace, name }));
  const { file: _, ...pinned } = chart;
  return {
    upgrade: {
      name,
      namespace,
      kubeContext,
      chart: { ...pinned, ...(range !== undefined && { range }) },
      values: valuesDigest(values, key),
      options,
    },
    work: { namespace, name, chart, values },
  };
}

function readList(output: string): readonly ListedRelease[] {
  try {
    return listSchema.parse(JSON.parse(output)) ?? [];
  } catch {
    throw failed(agentErrors.HELMFILE_FAILED, "helmfile list printed no list of releases");
  }
}

/** Each document is a file of the helmfile. */
async function readBuilt(
  output: string,
  readYaml: ReadValuesFile,
): Promise<readonly BuiltRelease[]> {
  const releases: BuiltRelease[] = [];
  for (const text of output.split(/^---$/m))
    releases.push(...builtReleases(await readYaml(text, "the output of helmfile build")));
  return releases;
}

interface RunPlace {
  /** The folder of the run, outside of the sandbox. */
  readonly dir: string;
  readonly relay: Relay;
  readonly answers: HelmAnswers;
}

const answerErrors = {
  refused: agentErrors.HELMFILE_INVALID,
  limit: agentErrors.LIMIT_EXCEEDED,
  failed: agentErrors.HELMFILE_FAILED,
} as const;

/** Prepares what is common to all commands of a run; the function runs one of them and returns what it prints. */
async function openRun(
  deps: PlanHelmfileDeps,
  request: HelmfileRequest,
  place: RunPlace,
): Promise<(command: readonly string[]) => Promise<string>> {
  const { programs, sandbox, watch, limits } = deps;
  const { tree, timeoutMs, signal } = request;
  const { dir, relay, answers } = place;
  // The names by which helmfile starts programs.
  const bin = join(dir, "bin");
  await mkdir(bin, { mode: 0o700 });
  await symlink(programs.relay, join(bin, "helm"));
  await symlink(programs.relay, join(bin, "git"));
  await symlink(programs.kustomize, join(bin, "kustomize"));
  const environment = {
    ...request.variables,
    ...relay.environment,
    PATH: bin,
    HELMFILE_UPGRADE_NOTICE_DISABLED: "true",
    // helmfile fails on a file that has hooks, and runs none.
    HELMFILE_DISABLE_HOOKS: "true",
    HELMFILE_CACHE_HOME: join(dir, "cache"),
    NO_COLOR: "true",
  };
  await mkdir(join(dir, "cache"), { mode: 0o700 });

  return async function run(command) {
    const result = await runInSandbox(sandbox, {
      program: programs.helmfile,
      args: [...optionsOf(request, join(bin, "helm")), ...command],
      tree,
      parent: dir,
      environment,
      executes: [programs.relay, programs.helm, programs.kustomize],
      writes: [tree, join(dir, "cache"), "/dev/null"],
      usesUnixSockets: true,
      limited: {
        watch,
        limits: { ...limits, withChildren: true },
        outputBytes: maxOutputBytes,
        timeoutMs,
        signal,
      },
    });
    switch (result.kind) {
      case "not-started":
        throw failed(agentErrors.HELMFILE_FAILED, `could not be started: ${result.why}`);
      case "exceeded":
        throw failed(agentErrors.LIMIT_EXCEEDED, `${result.what} and was killed`);
      case "ended":
        if (relay.exceeded !== undefined)
          throw failed(agentErrors.LIMIT_EXCEEDED, `it ${relay.exceeded}`);
        if (result.failure === undefined) return result.stdout;
        throw answers.failure === undefined
          ? failed(agentErrors.HELMFILE_FAILED, explained(result, tree))
          : failed(answerErrors[answers.failure.kind], answers.failure.why);
    }
  };
}

function optionsOf(request: HelmfileRequest, helm: string): readonly string[] {
  const { file, environment, stateValuesFiles = [], selectors = [] } = request;
  return [
    `--helm-binary=${helm}`,
    "--no-color",
    "--log-level=error",
    ...(file === undefined ? [] : [`--file=${file}`]),
    ...(environment === undefined ? [] : [`--environment=${environment}`]),
    ...stateValuesFiles.map((path) => `--state-values-file=${path}`),
    ...selectors.map((selector) => `--selector=${selector}`),
  ];
}

/** helmfile's exit code where no release is left by environment and selectors. */
const nothingSelected = 3;

/** helmfile's last lines, without the path of the tree. */
function explained(
  {
    stderr,
    failure,
    code,
  }: {
    readonly stderr: string;
    readonly failure?: string | undefined;
    readonly code: number | undefined;
  },
  tree: string,
): string {
  if (code === nothingSelected)
    return "it has no release for this environment and these selectors; nothing was uninstalled";
  const lines = stderr
    .replaceAll(`${tree}/`, "")
    .split("\n")
    .map((line) => line.trim());
  const text = lines
    .filter((line) => line !== "")
    .slice(-maxErrorLines)
    .join("; ");
  return text === "" ? `it ${failure ?? "failed"} and printed no error` : cutText(text, 2_000);
}

const maxErrorLines = 12;

function failed(kind: ErrorKind, why: string): AppError {
  return new AppError(kind, `plan the helmfile: ${why}`);
}
