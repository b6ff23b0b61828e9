/** The agent but for its link: keeps installed what it is assigned, and reports it to whoever listens. */
import { join } from "node:path";
import { createChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import type { ChartClient } from "@flotilla/shared/charts/chart-client.ts";
import type { KubeConnection } from "@flotilla/shared/kube/client/rest.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Registry } from "prom-client";
import { createActors } from "./acting/actors.ts";
import { createAssignmentStorage } from "./assignment/assignment-storage.ts";
import { createAssignments } from "./assignment/assignments.ts";
import { createCopies } from "./copies/copies.ts";
import { createCopyWanters } from "./copies/copy-wanters.ts";
import { createDeployer } from "./engine/deployer.ts";
import { createEngine } from "./engine/engine.ts";
import { createRunNotes } from "./engine/run-notes.ts";
import { createReleases } from "./helm/releases.ts";
import type { RunHelm } from "./helm/run-helm.ts";
import { createInputs } from "./inputs/inputs.ts";
import type { Intake, Outbox } from "./link/ports.ts";
import { createReadinessTracker } from "./readiness/tracker.ts";
import { createOwnSecrets } from "./storage/own-secrets.ts";
import { createFacts } from "./supply/facts.ts";
import { createSupplies } from "./supply/supplies.ts";
import { createTemplateGuard } from "./templates/template-guard.ts";
import { createRenderValues } from "./values/render-values.ts";

export interface InstallerDeps {
  readonly rest: KubeConnection;
  /** Where the agent keeps its own Secrets. */
  readonly namespace: string;
  readonly charts: ChartClient;
  readonly runHelm: RunHelm;
  readonly outbox: Outbox;
  /** For charts, values on their way to Helm, and notes of Helm's runs. */
  readonly dataDir: string;
  /** Helm processes at a time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  /** See UpgradeDeps. */
  readonly patienceMs?: number;
}

export interface Installer {
  /** What a hub says goes in here. */
  readonly intake: Intake;
  /** Resolves when everything is known that was held before, with the number of assignments. */
  load(): Promise<number>;
  /** Works until `signal` aborts and what was under way has ended. To be called after `load`. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends what it watches. */
  close(): Promise<void>;
}

export function createInstaller(deps: InstallerDeps): Installer {
  const { rest, namespace, runHelm, dataDir, clock, log } = deps;
  const assignments = createAssignments({
    storage: createAssignmentStorage({ rest, log }),
    log,
  });
  const own = createOwnSecrets(rest);
  const supplies = createSupplies({ own, log });
  const facts = createFacts({ own, log });
  const releases = createReleases({ rest, clock, log });
  const readiness = createReadinessTracker({ rest, log, clock });
  const notes = createRunNotes(join(dataDir, "runs"), log);
  const actors = createActors({ connection: rest, namespace, log });
  const copies = createCopies({ rest, wanters: createCopyWanters(assignments), clock, log });
  const inputs = createInputs({
    rest,
    supplies,
    facts,
    renderValues: createRenderValues({ runHelm, dir: join(dataDir, "values") }),
    clock,
    log,
  });
  const charts = createChartCache(
    { open: deps.charts.open, log },
    { dir: join(dataDir, "charts") },
  );
  const deployer = createDeployer({
    ...deps,
    actors,
    assignments,
    copies,
    inputs,
    releases,
    charts,
    checkTemplates: createTemplateGuard(),
    supplies,
    facts,
    notes,
  });
  const engine = createEngine({
    ...deps,
    inputs,
    copies,
    actors,
    assignments,
    releases,
    deployer,
    readiness,
    supplies,
    facts,
  });
  const closing = new AbortController();
  let watches: Promise<unknown> = Promise.resolve();

  return {
    intake: engine.intake,
    async load() {
      watches = Promise.all(
        [releases, readiness, actors, copies].map((watched) => watched.run(closing.signal)),
      );
      await notes.recover();
      await Promise.all([assignments.load(), supplies.load(), facts.load()]);
      await Promise.all([releases.synced, actors.synced, copies.synced]);
      return assignments.list().length;
    },
    run: engine.run,
    async close() {
      closing.abort();
      await Promise.all([watches, inputs.end()]);
    },
  };
}
