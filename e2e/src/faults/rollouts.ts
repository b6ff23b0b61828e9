/** HelmOps that change all the time, and what was wanted of each. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiVersion, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Chronicle } from "./event-log.ts";
import type { Random } from "./random.ts";

/** What is wanted of one HelmOp. */
export interface Wanted {
  readonly name: string;
  readonly version: string;
  readonly serial: number;
  /** How many different contents were asked for, those included of which nobody knows whether they were taken. */
  readonly changes: number;
}

export interface RolloutOptions {
  readonly hub: KubeRest;
  readonly repo: string;
  readonly versions: readonly string[];
  /** In the values, and to be seen nowhere. */
  readonly password: string;
  readonly chronicle: Chronicle;
}

export interface Rollouts {
  readonly wanted: readonly Wanted[];
  /** Changes one after the other, at random, until `signal` aborts. */
  run(random: Random, signal: AbortSignal): Promise<void>;
  /** One more change of each, which has to succeed. */
  changeAll(random: Random): Promise<void>;
}

/** Those that stay; the second runs Deployments, and Helm waits for them. */
const lasting = ["steady", "waiting", "third"] as const;
/** Comes and goes. */
export const passing = "passing";

export async function startRollouts(options: RolloutOptions): Promise<Rollouts> {
  const { hub, repo, versions, password, chronicle } = options;
  const wanted = new Map<string, Wanted>();

  const helmOf = ({ name, version, serial }: Wanted) => ({
    repo,
    chart: "hooked",
    version,
    // All that there ever were are counted.
    maxHistory: 10_000,
    values: { serial, password, ...(name === "waiting" && { replicas: 1 }) },
    ...(name === "waiting" && { timeoutSeconds: 60 }),
  });

  async function create(of: Wanted): Promise<void> {
    await hub.create(helmOps, {
      apiVersion,
      kind: "HelmOp",
      metadata: { namespace: workspaceNamespace, name: of.name },
      spec: { namespace: of.name, targets: [{ clusterSelector: {} }], helm: helmOf(of) },
    });
  }

  async function change(name: string, random: Random, signal?: AbortSignal): Promise<void> {
    const before = wanted.get(name);
    const next: Wanted = {
      name,
      version: random.pick(versions),
      serial: (before?.serial ?? 0) + 1,
      changes: (before?.changes ?? 0) + 1,
    };
    // Also what fails may have been taken.
    wanted.set(name, next);
    await hub.patch(
      helmOps,
      { namespace: workspaceNamespace, name },
      { type: "merge", body: { spec: { helm: helmOf(next) } } },
      signal && { signal },
    );
  }

  async function pass(): Promise<void> {
    const ref = { namespace: workspaceNamespace, name: passing };
    const found = await hub.get(helmOps, ref);
    if (found !== undefined) await hub.delete(helmOps, ref);
    else await create({ name: passing, version: versions[0] ?? "", serial: 1, changes: 1 });
  }

  for (const name of lasting) {
    const first = { name, version: versions[0] ?? "", serial: 0, changes: 1 };
    wanted.set(name, first);
    await create(first);
  }

  return {
    get wanted() {
      return [...wanted.values()];
    },
    async run(random, signal) {
      while (!signal.aborted) {
        const name = random.pick([...lasting, ...lasting, passing]);
        try {
          const giveUp = AbortSignal.any([signal, AbortSignal.timeout(3_000)]);
          await (name === passing ? pass() : change(name, random, giveUp));
        } catch (thrown) {
          if (!isAborted(signal)) chronicle.note(`no change of ${name}: ${messageOf(thrown)}`);
        }
        await sleep(random.between(100, 1_200));
      }
    },
    async changeAll(random) {
      for (const name of lasting) await change(name, random);
      await hub.delete(helmOps, { namespace: workspaceNamespace, name: passing });
    },
  };
}

/** Looks again: it may have aborted while something was awaited. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
