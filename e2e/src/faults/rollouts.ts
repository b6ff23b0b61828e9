/** HelmOps that change all the time, and the desired state of each. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiVersion, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { EventLog } from "./event-log.ts";
import type { Random } from "./random.ts";

/** The desired state of one HelmOp. */
export interface DesiredRelease {
  readonly name: string;
  readonly version: string;
  readonly serial: number;
  /** How many different contents were desired, including those whose request failed. */
  readonly changes: number;
}

export interface RolloutOptions {
  readonly hub: KubeRest;
  readonly repo: string;
  readonly versions: readonly string[];
  /** In the values; it must be shown nowhere. */
  readonly password: string;
  readonly log: EventLog;
}

export interface Rollouts {
  readonly desired: readonly DesiredRelease[];
  /** Changes one after the other, at random, until `signal` aborts. */
  run(random: Random, signal: AbortSignal): Promise<void>;
  /** One more change of each, which has to succeed. */
  changeAll(random: Random): Promise<void>;
}

/** They exist all the time; the second has Deployments, and Helm waits for them. */
const lasting = ["steady", "waiting", "third"] as const;
/** It is created and deleted repeatedly. */
export const transient = "transient";

export async function startRollouts(options: RolloutOptions): Promise<Rollouts> {
  const { hub, repo, versions, password, log } = options;
  const desired = new Map<string, DesiredRelease>();

  const helmOf = ({ name, version, serial }: DesiredRelease) => ({
    repo,
    chart: "hooked",
    version,
    // All revisions are counted.
    maxHistory: 10_000,
    values: { serial, password, ...(name === "waiting" && { replicas: 1 }) },
    ...(name === "waiting" && { timeoutSeconds: 60 }),
  });

  async function create(of: DesiredRelease): Promise<void> {
    await hub.create(helmOps, {
      apiVersion,
      kind: "HelmOp",
      metadata: { namespace: workspaceNamespace, name: of.name },
      spec: { namespace: of.name, targets: [{ clusterSelector: {} }], helm: helmOf(of) },
    });
  }

  async function change(name: string, random: Random, signal?: AbortSignal): Promise<void> {
    const before = desired.get(name);
    const next: DesiredRelease = {
      name,
      version: random.pick(versions),
      serial: (before?.serial ?? 0) + 1,
      changes: (before?.changes ?? 0) + 1,
    };
    // A request that fails may have been stored.
    desired.set(name, next);
    await hub.patch(
      helmOps,
      { namespace: workspaceNamespace, name },
      { type: "merge", body: { spec: { helm: helmOf(next) } } },
      signal && { signal },
    );
  }

  async function createOrDelete(): Promise<void> {
    const ref = { namespace: workspaceNamespace, name: transient };
    const found = await hub.get(helmOps, ref);
    if (found !== undefined) await hub.delete(helmOps, ref);
    else await create({ name: transient, version: versions[0] ?? "", serial: 1, changes: 1 });
  }

  for (const name of lasting) {
    const first = { name, version: versions[0] ?? "", serial: 0, changes: 1 };
    desired.set(name, first);
    await create(first);
  }

  return {
    get desired() {
      return [...desired.values()];
    },
    async run(random, signal) {
      while (!signal.aborted) {
        const name = random.pick([...lasting, ...lasting, transient]);
        try {
          const giveUp = AbortSignal.any([signal, AbortSignal.timeout(3_000)]);
          await (name === transient ? createOrDelete() : change(name, random, giveUp));
        } catch (thrown) {
          if (!isAborted(signal)) log.note(`no change of ${name}: ${messageOf(thrown)}`);
        }
        await sleep(random.between(100, 1_200));
      }
    },
    async changeAll(random) {
      for (const name of lasting) await change(name, random);
      await hub.delete(helmOps, { namespace: workspaceNamespace, name: transient });
    },
  };
}

/** Evaluated again: it may have aborted during an await. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
