/** The agent without its link to a hub: what the hub would say is said by the test. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Intake } from "@flotilla/agent/assignment";
import { createRunHelm } from "@flotilla/agent/helm";
import { createInstaller } from "@flotilla/agent/installer";
import type { DeploymentKey, DeploymentState } from "@flotilla/proto";
import { agentNamespace } from "@flotilla/shared/api/names";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { silentLog } from "@flotilla/shared/log";
import { createSourceClient } from "@flotilla/shared/source/client";
import { type Clock, systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";

export interface AgentParts {
  readonly intake: Intake;
  /** Everything that was reported, in order. */
  readonly reports: readonly DeploymentState[];
  /** With which arguments Helm was started, but for rendering values, which changes nothing. */
  readonly helmRuns: readonly (readonly string[])[];
  /** Resolves with the first report, from now on or before, that `isWanted` holds for. */
  report(isWanted: (state: DeploymentState) => boolean): Promise<DeploymentState>;
  withdrawn(name: string): Promise<void>;
  stop(): Promise<void>;
}

export interface AgentPartsSpec {
  readonly kubeconfig: string;
  readonly helm: string;
  readonly dataDir: string;
  readonly concurrency?: number;
  /** How long Helm gets to end by itself. */
  readonly graceMs?: number;
  /** How long a run that waits for nothing may go on once it is superseded. */
  readonly patienceMs?: number;
  readonly clock?: Clock;
}

const patienceMs = 60_000;

export async function startAgentParts(spec: AgentPartsSpec): Promise<AgentParts> {
  const { kubeconfig, dataDir, concurrency = 4, clock = systemClock } = spec;
  const log = silentLog();
  const home = join(dataDir, "helm");
  await mkdir(home, { recursive: true });
  const rest = connectKube(await loadKubeconfig({ path: kubeconfig }));
  const charts = createSourceClient({ userAgent: "flotilla-test", log });
  const runHelm = createRunHelm({
    path: spec.helm,
    environment: { HOME: home, KUBECONFIG: kubeconfig },
    ...(spec.graceMs !== undefined && { graceMs: spec.graceMs }),
  });
  const helmRuns: (readonly string[])[] = [];
  const reports: DeploymentState[] = [];
  const gone: DeploymentKey[] = [];
  const waiters = new Set<() => void>();
  const heard = (): void => {
    for (const waiter of [...waiters]) waiter();
  };
  const installer = createInstaller({
    rest,
    namespace: agentNamespace,
    charts,
    runHelm: (run) => {
      if (run.args[0] !== "template") helmRuns.push(run.args);
      return runHelm(run);
    },
    outbox: {
      report(state) {
        reports.push(state);
        heard();
      },
      withdrawn(deployment) {
        gone.push(deployment);
        heard();
      },
    },
    dataDir,
    concurrency,
    clock,
    log,
    metrics: new Registry(),
    ...(spec.patienceMs !== undefined && { supersededGraceMs: spec.patienceMs }),
  });

  function eventually<T>(find: () => T | undefined, what: () => string): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        waiters.delete(look);
        resolve(found);
      };
      const timer = setTimeout(() => {
        waiters.delete(look);
        reject(new Error(what()));
      }, patienceMs);
      waiters.add(look);
      look();
    });
  }

  const ending = new AbortController();
  await installer.load();
  const running = installer.run(ending.signal);

  return {
    intake: installer.intake,
    reports,
    helmRuns,
    report: (isWanted) =>
      eventually(
        () => reports.find(isWanted),
        () => `not reported, last: ${JSON.stringify(reports.at(-1))}`,
      ),
    async withdrawn(name) {
      await eventually(
        () => gone.find((deployment) => deployment.name === name),
        () => `${name} was not withdrawn, last: ${JSON.stringify(reports.at(-1))}`,
      );
    },
    async stop() {
      ending.abort();
      await running;
      await installer.close();
      await Promise.all([charts.close(), rest.close()]);
    },
  };
}
