/** The agent without its link to a hub, put together as `main.ts` does: what the hub would say is said by the test. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createActors } from "@flotilla/agent/acting/actors.ts";
import { createAssignmentStorage } from "@flotilla/agent/assignment/assignment-storage.ts";
import { createAssignments } from "@flotilla/agent/assignment/assignments.ts";
import { createCopies } from "@flotilla/agent/copies/copies.ts";
import { createCopyWanters } from "@flotilla/agent/copies/copy-wanters.ts";
import { createDeployer } from "@flotilla/agent/engine/deployer.ts";
import { createEngine } from "@flotilla/agent/engine/engine.ts";
import { createRunNotes } from "@flotilla/agent/engine/run-notes.ts";
import { createReleases } from "@flotilla/agent/helm/releases.ts";
import { createRunHelm } from "@flotilla/agent/helm/run-helm.ts";
import { createInputs } from "@flotilla/agent/inputs/inputs.ts";
import type { Intake } from "@flotilla/agent/link/ports.ts";
import { createReadinessTracker } from "@flotilla/agent/readiness/tracker.ts";
import { createFacts } from "@flotilla/agent/supply/facts.ts";
import { createSupplies } from "@flotilla/agent/supply/supplies.ts";
import { createTemplateGuard } from "@flotilla/agent/templates/template-guard.ts";
import { createRenderValues } from "@flotilla/agent/values/render-values.ts";
import type { DeploymentKey, DeploymentState } from "@flotilla/proto/messages.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { createChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import { createChartClient } from "@flotilla/shared/charts/chart-client.ts";
import { systemClock as clock } from "@flotilla/shared/clock/clock.ts";
import { connectKube } from "@flotilla/shared/kube/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/kubeconfig.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { Registry } from "prom-client";

export interface AgentParts {
  readonly intake: Intake;
  /** Everything that was reported, in order. */
  readonly reports: readonly DeploymentState[];
  /** How often Helm was started. */
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
}

const patienceMs = 60_000;

export async function startAgentParts(spec: AgentPartsSpec): Promise<AgentParts> {
  const { kubeconfig, dataDir, concurrency = 4 } = spec;
  const log = silentLog();
  const home = join(dataDir, "helm");
  await mkdir(home, { recursive: true });
  const rest = connectKube(await loadKubeconfig({ path: kubeconfig }));
  const charts = createChartClient({ userAgent: "flotilla-test", log });
  const assignments = createAssignments({ storage: createAssignmentStorage({ rest, log }), log });
  const releases = createReleases({ rest, clock, log });
  const readiness = createReadinessTracker({ rest, log, clock });
  const notes = createRunNotes(join(dataDir, "runs"), log);
  const program = createRunHelm({
    path: spec.helm,
    environment: { HOME: home, KUBECONFIG: kubeconfig },
    ...(spec.graceMs !== undefined && { graceMs: spec.graceMs }),
  });
  const supplies = createSupplies({ rest, log });
  const facts = createFacts({ rest, log });
  const helmRuns: (readonly string[])[] = [];
  const actors = createActors({ connection: rest, namespace: agentNamespace, log });
  const copies = createCopies({ rest, wanters: createCopyWanters(assignments), clock, log });
  const inputs = createInputs({
    rest,
    supplies,
    facts,
    renderValues: createRenderValues({ runHelm: program, dir: join(dataDir, "values") }),
    clock,
    log,
  });
  const deployer = createDeployer({
    rest,
    actors,
    assignments,
    copies,
    inputs,
    releases,
    charts: createChartCache({ open: charts.open, log }, { dir: join(dataDir, "charts") }),
    checkTemplates: createTemplateGuard(),
    runHelm: (run) => {
      helmRuns.push(run.args);
      return program(run);
    },
    supplies,
    facts,
    notes,
    clock,
    log,
    ...(spec.patienceMs !== undefined && { patienceMs: spec.patienceMs }),
  });

  const reports: DeploymentState[] = [];
  const gone: DeploymentKey[] = [];
  const waiters = new Set<() => void>();
  const heard = (): void => {
    for (const waiter of [...waiters]) waiter();
  };
  const engine = createEngine({
    inputs,
    copies,
    actors,
    assignments,
    releases,
    deployer,
    readiness,
    supplies,
    facts,
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
    concurrency,
    clock,
    log,
    metrics: new Registry(),
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
  const watching = new AbortController();
  const watches = Promise.all(
    [releases, readiness, actors, copies].map((watched) => watched.run(watching.signal)),
  );
  await notes.recover();
  await Promise.all([assignments.load(), supplies.load(), facts.load()]);
  await Promise.all([releases.synced, actors.synced, copies.synced]);
  const running = engine.run(ending.signal);

  return {
    intake: engine.intake,
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
      watching.abort();
      await Promise.all([watches, inputs.end()]);
      await Promise.all([charts.close(), rest.close()]);
    },
  };
}
