/** The folder of one local cluster. It stores ports, data and PKI, so that a restarted cluster is the same. */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import * as z from "zod";
import { localErrors } from "../errors.ts";
import { readJson, writeJson } from "../files/index.ts";
import { freePort, isAlive, type ProcessRecord, processRecord } from "../process/index.ts";

/** Ports of a cluster. They stay the same over restarts, so that kubeconfigs stay valid. */
const clusterPorts = z.object({ api: z.int(), etcd: z.int() });
export type ClusterPorts = Readonly<z.infer<typeof clusterPorts>>;

/** The stored ports; `undefined` before the first start. */
export function readPorts(dir: string): Promise<ClusterPorts | undefined> {
  return readJson(join(dir, "ports.json"), clusterPorts);
}

/** Chooses free ports and stores them. */
export async function choosePorts(dir: string): Promise<ClusterPorts> {
  const ports = { api: await freePort(), etcd: await freePort() };
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeJson(join(dir, "ports.json"), ports);
  return ports;
}

/** The processes of the last start, running or not. */
export async function readParts(dir: string): Promise<readonly ProcessRecord[]> {
  return (await readJson(join(dir, "processes.json"), z.array(processRecord))) ?? [];
}

/** Stores the processes of a start. */
export async function writeParts(dir: string, parts: readonly ProcessRecord[]): Promise<void> {
  await writeJson(join(dir, "processes.json"), parts);
}

/** Throws CLUSTER_ALREADY_RUNS when a process of the folder is running: a second etcd would wait for the lock on the data. */
export async function assertStopped(dir: string): Promise<void> {
  for (const part of await readParts(dir)) {
    if (!(await isAlive(part))) continue;
    throw new AppError(
      localErrors.CLUSTER_ALREADY_RUNS,
      `use the control plane in ${dir}: ${part.name} is running with process id ${part.pid}`,
    );
  }
}

/** Copies the etcd data of a stopped cluster: a backup that a control plane can start from (`etcdDir`). */
export async function copyEtcdData(dir: string, to: string): Promise<void> {
  await assertStopped(dir);
  await cp(join(dir, "etcd"), to, { recursive: true, errorOnExist: true, force: false });
}
