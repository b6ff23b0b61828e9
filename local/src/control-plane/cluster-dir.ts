/** The folder of one local cluster: its ports, its data, its PKI. What is in it makes a stopped cluster come back the same. */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { z } from "zod";
import { localErrors } from "../errors.ts";
import { readJson, writeJson } from "../files/atomic-file.ts";
import { freePort } from "../process/free-port.ts";
import { isAlive } from "../process/identity.ts";
import { type ProcessRecord, processRecord } from "../process/process-record.ts";

/** The ports of a cluster; they stay the same over restarts, so that kubeconfigs stay valid. */
const clusterPorts = z.object({ api: z.int(), etcd: z.int() });
export type ClusterPorts = Readonly<z.infer<typeof clusterPorts>>;

/** The ports written in the folder; `undefined` before the first start. */
export function readPorts(dir: string): Promise<ClusterPorts | undefined> {
  return readJson(join(dir, "ports.json"), clusterPorts);
}

/** Ports that are free now, written into the folder. */
export async function choosePorts(dir: string): Promise<ClusterPorts> {
  const ports = { api: await freePort(), etcd: await freePort() };
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeJson(join(dir, "ports.json"), ports);
  return ports;
}

/** The processes that were started for the folder last, alive or not. */
export async function readParts(dir: string): Promise<readonly ProcessRecord[]> {
  return (await readJson(join(dir, "processes.json"), z.array(processRecord))) ?? [];
}

export async function writeParts(dir: string, parts: readonly ProcessRecord[]): Promise<void> {
  await writeJson(join(dir, "processes.json"), parts);
}

/** Throws when a process of the folder is running: two etcds on the same data would wait for each other. */
export async function assertStopped(dir: string): Promise<void> {
  for (const part of await readParts(dir)) {
    if (!(await isAlive(part))) continue;
    throw new AppError(
      localErrors.CLUSTER_ALREADY_RUNS,
      `use the control plane in ${dir}: ${part.name} is running with process id ${part.pid}`,
    );
  }
}

/** Copies etcd's data of a stopped cluster, to start from it later (`etcdDir`): a backup that can be restored. */
export async function copyEtcdData(dir: string, to: string): Promise<void> {
  await assertStopped(dir);
  await cp(join(dir, "etcd"), to, { recursive: true, errorOnExist: true, force: false });
}
