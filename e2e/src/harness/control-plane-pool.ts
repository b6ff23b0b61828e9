/**
 * Control planes that the files of a run share, one file after the other: each is started once, and reset to what it was
 * then when a file gives it back. A start costs seven seconds of CPU, a reset a tenth of one. One that nobody uses would cost as
 * much as a start in four minutes, so its processes are stopped (SIGSTOP) until the next file takes it.
 */
import { join } from "node:path";
import { installCrds } from "@flotilla/cli/fleet";
import { ensureBinaries } from "@flotilla/local/binaries";
import {
  type ControlPlane,
  controlPlaneTools,
  readPorts,
  startControlPlane,
} from "@flotilla/local/control-plane";
import { type RunningProcess, startReaper } from "@flotilla/local/process";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { renice } from "@flotilla/shared/process";
import { type EtcdSnapshot, takeEtcdSnapshot } from "./etcd-snapshot.ts";

export const planeKinds = ["bare", "hub", "cluster", "local"] as const;
export type PlaneKind = (typeof planeKinds)[number];

/** What each kind has besides an API server. `local` is for a hub whose own cluster is enrolled. */
const contents: Readonly<
  Record<PlaneKind, { readonly crds: boolean; readonly workloads: boolean }>
> = {
  bare: { crds: false, workloads: false },
  hub: { crds: true, workloads: false },
  cluster: { crds: false, workloads: true },
  local: { crds: true, workloads: true },
};

export interface PooledPlane {
  readonly plane: ControlPlane;
  /** Resets it for the next one; harmless when it was given back already. */
  giveBack(): Promise<void>;
}

export interface ControlPlanePool {
  /** One that is not in use: a free one, else a new one. */
  take(kind: PlaneKind): Promise<PooledPlane>;
  close(): Promise<void>;
}

interface Entry {
  readonly kind: PlaneKind;
  readonly plane: ControlPlane;
  readonly snapshot: EtcdSnapshot;
  /** Stops its processes while it is free. */
  timer?: NodeJS.Timeout;
  isStopped?: boolean;
}

/** Its controllers finish meanwhile with what the reset has deleted. */
const settleMs = 15_000;

/** Each takes up to a gigabyte. */
const mostFree = 8;

/** Three times the processor time of other processes: where the machine has too little, a hub that gets no answer loses its Lease. */
const planeNice = -5;

/** `dir`: where the planes have their folders. */
export async function createControlPlanePool(dir: string): Promise<ControlPlanePool> {
  const binaries = await ensureBinaries(controlPlaneTools);
  const reaper = startReaper();
  /** The one that was given back first comes first. */
  const free: Entry[] = [];
  const all = new Set<Entry>();
  const ending = new Set<Promise<void>>();
  let count = 0;

  async function start(kind: PlaneKind): Promise<Entry> {
    count += 1;
    const { crds, workloads } = contents[kind];
    const name = `${kind}-${count}`;
    const plane = await startControlPlane({
      name,
      dir: join(dir, name),
      binaries,
      workloads,
      shortLived: true,
      processors: 1,
      reaper,
    });
    for (const { identity } of plane.processes) renice(identity.pid, planeNice);
    try {
      if (crds) {
        const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
        try {
          await installCrds(rest);
        } finally {
          await rest.close();
        }
      }
      const port = (await readPorts(plane.dir))?.etcd;
      if (port === undefined) throw new Error(`${plane.dir} names no port of etcd`);
      const entry = {
        kind,
        plane,
        snapshot: await takeEtcdSnapshot({ pkiDir: plane.pki.dir, port }),
      };
      all.add(entry);
      return entry;
    } catch (thrown) {
      await plane.stop();
      throw thrown;
    }
  }

  async function drop(entry: Entry): Promise<void> {
    all.delete(entry);
    resume(entry);
    entry.snapshot.close();
    await entry.plane.stop();
  }

  function keep(entry: Entry): void {
    free.push(entry);
    entry.timer = setTimeout(() => {
      for (const part of clientsFirst(entry.plane)) signal(part, "SIGSTOP");
      entry.isStopped = true;
    }, settleMs);
    const oldest = free.length > mostFree ? free.shift() : undefined;
    if (oldest === undefined) return;
    const ended = drop(oldest);
    // `close` throws why.
    ended.catch(() => undefined);
    ending.add(ended);
  }

  /** A free one that runs; what was written since it was given back is undone, such as an event that came late. */
  async function reuse(kind: PlaneKind): Promise<Entry | undefined> {
    for (;;) {
      const at = free.findLastIndex((each) => each.kind === kind);
      const [entry] = at < 0 ? [] : free.splice(at, 1);
      if (entry === undefined) return undefined;
      resume(entry);
      try {
        if (entry.plane.processes.some((part) => part.exit() !== undefined)) throw new Error();
        await entry.snapshot.restore();
        return entry;
      } catch {
        await drop(entry);
      }
    }
  }

  return {
    async take(kind) {
      const entry = (await reuse(kind)) ?? (await start(kind));
      let isTaken = true;
      return {
        plane: entry.plane,
        async giveBack() {
          if (!isTaken) return;
          isTaken = false;
          try {
            await entry.snapshot.restore();
            keep(entry);
          } catch {
            await drop(entry);
          }
        },
      };
    },
    async close() {
      await Promise.all([...ending, ...[...all].map(drop)]);
      await reaper.release();
    },
  };
}

function clientsFirst(plane: ControlPlane): readonly RunningProcess[] {
  return plane.processes.toSorted((a, b) => b.layer - a.layer);
}

/** Lets its processes go on, the store first. */
function resume(entry: Entry): void {
  clearTimeout(entry.timer);
  if (entry.isStopped === true)
    for (const part of clientsFirst(entry.plane).toReversed()) signal(part, "SIGCONT");
  entry.isStopped = false;
}

function signal(part: RunningProcess, name: NodeJS.Signals): void {
  if (part.exit() !== undefined) return;
  try {
    process.kill(part.identity.pid, name);
  } catch {
    // It has ended this moment; `reuse` looks for that.
  }
}
