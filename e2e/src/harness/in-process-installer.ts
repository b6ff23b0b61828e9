/** The agent in this process, without a connection to a hub: tests make the assignments. */
import { mkdir } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { limitsWithChildren, processLimits } from "@flotilla/agent/base";
import { createRunHelm, helmEnvironment } from "@flotilla/agent/helm";
import { createInstaller } from "@flotilla/agent/installer";
import type { AnswerRequest } from "@flotilla/agent/link";
import { openSandbox, type Sandbox } from "@flotilla/agent/sandbox";
import type { Intake } from "@flotilla/agent/state";
import type { DeploymentKey, DeploymentState } from "@flotilla/proto";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { silentLog } from "@flotilla/shared/log";
import { createProcessWatch } from "@flotilla/shared/process";
import { availableMemoryBytes } from "@flotilla/shared/program";
import { createSourceClient } from "@flotilla/shared/source/client";
import { createGitClient } from "@flotilla/shared/source/git";
import { type Clock, systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import { createChangeSignal } from "./change-signal.ts";

export interface InProcessInstaller {
  readonly intake: Intake;
  /** Answers requests of users. */
  readonly answer: AnswerRequest;
  /** Everything that was reported, in order. */
  readonly reports: readonly DeploymentState[];
  /** The arguments of each run of Helm, except `helm template`, which changes nothing. */
  readonly helmRuns: readonly (readonly string[])[];
  /** Resolves with the first report, past or future, for which `isDesired` holds. */
  report(isDesired: (state: DeploymentState) => boolean): Promise<DeploymentState>;
  /** Resolves when Helm was started for a release. */
  helmStarted(release: string): Promise<void>;
  withdrawn(name: string): Promise<void>;
  stop(): Promise<void>;
}

export interface InstallerSpec {
  readonly kubeconfig: string;
  readonly helm: string;
  /** Absent: none, for deployments without post-renderers. */
  readonly kustomize?: string;
  /** The launcher of the sandbox. Absent: kustomize runs without it. */
  readonly confine?: string;
  readonly dataDir: string;
  readonly concurrency?: number;
  /** Called when a run of Helm has ended, before the agent learns it. */
  readonly helmEnded?: (args: readonly string[]) => Promise<void>;
  /** How long Helm gets to end by itself. */
  readonly graceMs?: number;
  /** How long a run that waits for nothing may go on once it is superseded. */
  readonly supersededGraceMs?: number;
  readonly clock?: Clock;
  /** See InstallerDeps. */
  readonly impersonationNamespaces?: readonly string[];
  /** The memory of the agent's container; default: that of this machine. */
  readonly memoryBytes?: number;
}

export async function startInstaller(spec: InstallerSpec): Promise<InProcessInstaller> {
  const { kubeconfig, dataDir, concurrency = 4, clock = systemClock } = spec;
  const log = silentLog();
  const cache = getCompileCacheDir();
  const home = join(dataDir, "helm");
  await mkdir(home, { recursive: true });
  const rest = connectKube(await loadKubeconfig({ path: kubeconfig }));
  const charts = createSourceClient({ userAgent: "flotilla-test", log });
  const limits = processLimits(spec.memoryBytes ?? availableMemoryBytes());
  const watch = createProcessWatch(limits);
  const git = createGitClient({
    ...{ dir: join(dataDir, "git"), userAgent: "flotilla-test", egress: { allowLoopback: true } },
    processes: { watch, limits: limitsWithChildren(limits.helm) },
  });
  const runHelm = createRunHelm({
    path: spec.helm,
    environment: helmEnvironment(
      { environment: {}, kubeconfig, memoryBytes: limits.helm.memoryBytes },
      home,
    ),
    limited: { watch, limits: limits.helm },
    ...(spec.graceMs !== undefined && { graceMs: spec.graceMs }),
  });
  const sandbox: Sandbox =
    spec.confine === undefined
      ? { kind: "unconfined" }
      : await openSandbox({
          ...{ launcher: spec.confine, environment: {}, program: "kustomize" },
          ...{ least: "Unconfined", log },
        });
  const helmRuns: (readonly string[])[] = [];
  const reports: DeploymentState[] = [];
  const withdrawn: DeploymentKey[] = [];
  const signal = createChangeSignal(() => [`last: ${JSON.stringify(reports.at(-1))}`]);
  const installer = createInstaller({
    rest,
    impersonationNamespaces: spec.impersonationNamespaces,
    charts,
    git,
    runHelm: async (run) => {
      if (run.args[0] !== "template") {
        helmRuns.push(run.args);
        signal.changed();
      }
      const result = await runHelm(run);
      await spec.helmEnded?.(run.args);
      return result;
    },
    kustomize: { path: spec.kustomize ?? "/no-kustomize", environment: {}, sandbox },
    limited: { watch, limits: limits.reader },
    readerEnvironment: cache === undefined ? {} : { NODE_COMPILE_CACHE: join(cache, "readers") },
    outbox: {
      report(state) {
        reports.push(state);
        signal.changed();
      },
      withdrawn(deployment) {
        withdrawn.push(deployment);
        signal.changed();
      },
    },
    dataDir,
    concurrency,
    clock,
    log,
    metrics: new Registry(),
    ...(spec.supersededGraceMs !== undefined && { supersededGraceMs: spec.supersededGraceMs }),
  });

  const ending = new AbortController();
  await installer.load();
  const running = installer.run(ending.signal);

  return {
    intake: installer.intake,
    answer: installer.answer,
    reports,
    helmRuns,
    report: (isDesired) => signal.found(() => reports.find(isDesired), "a report"),
    helmStarted: (release) =>
      signal.until(() => helmRuns.some((args) => args.includes(release)), `helm runs ${release}`),
    withdrawn: (name) =>
      signal.until(() => withdrawn.some((each) => each.name === name), `${name} is withdrawn`),
    async stop() {
      ending.abort();
      await running;
      await installer.close();
      await Promise.all([charts.close(), rest.close()]);
    },
  };
}
