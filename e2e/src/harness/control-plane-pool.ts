/**
 * Control planes that the files of a run share, one file after the other: each is started once, and reset to what it was
 * then when a file gives it back. A start costs four seconds of CPU, a reset a tenth of one; one that nobody uses costs as much
 * as a start in two minutes, and is ended then.
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
import { startReaper } from "@flotilla/local/process";
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
  readonly plane: ControlPlane;
  readonly snapshot: EtcdSnapshot;
  /** Ends it while it is free. */
  timer?: NodeJS.Timeout;
}

const idleMs = 100_000;

/** Three times the processor time of other processes: where the machine has too little, a hub that gets no answer loses its Lease. */
const planeNice = -5;

/** `dir`: where the planes have their folders. */
export async function createControlPlanePool(dir: string): Promise<ControlPlanePool> {
  const binaries = await ensureBinaries(controlPlaneTools);
  const reaper = startReaper();
  const free = new Map<PlaneKind, Entry[]>(planeKinds.map((kind) => [kind, []]));
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
      const entry = { plane, snapshot: await takeEtcdSnapshot({ pkiDir: plane.pki.dir, port }) };
      all.add(entry);
      return entry;
    } catch (thrown) {
      await plane.stop();
      throw thrown;
    }
  }

  async function drop(entry: Entry): Promise<void> {
    all.delete(entry);
    clearTimeout(entry.timer);
    entry.snapshot.close();
    await entry.plane.stop();
  }

  function keep(kind: PlaneKind, entry: Entry): void {
    const entries = free.get(kind);
    entries?.push(entry);
    entry.timer = setTimeout(() => {
      entries?.splice(entries.indexOf(entry), 1);
      const ended = drop(entry);
      // `close` throws why.
      ended.catch(() => undefined);
      ending.add(ended);
    }, idleMs);
  }

  /** A free one that runs; what was written since it was given back is undone, such as an event that came late. */
  async function reuse(kind: PlaneKind): Promise<Entry | undefined> {
    for (let entry = free.get(kind)?.pop(); entry !== undefined; entry = free.get(kind)?.pop()) {
      clearTimeout(entry.timer);
      try {
        if (entry.plane.processes.some((part) => part.exit() !== undefined)) throw new Error();
        await entry.snapshot.restore();
        return entry;
      } catch {
        await drop(entry);
      }
    }
    return undefined;
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
            keep(kind, entry);
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
