/**
 * Starts one real control plane: etcd, kube-apiserver, kube-controller-manager, and for workloads kube-scheduler and kwok
 * with a fake node. A restart on the same folder has the same data, addresses and certificates.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isPortInUse, waitUntil } from "../process/index.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import {
  apiServerArguments,
  type ControlPlaneLayout,
  controllerManagerArguments,
  etcdArguments,
  kwokArguments,
  schedulerArguments,
} from "./arguments.ts";
import { assertStopped, type ClusterPorts, choosePorts, readPorts } from "./cluster-dir.ts";
import type { ControlPlane, ControlPlaneSpec } from "./control-plane.ts";
import { formatKubeconfig, writeKubeconfig } from "./kubeconfig.ts";
import { createParts, type Parts } from "./parts.ts";
import { type ClientName, type ClusterPki, ensurePki } from "./pki.ts";
import {
  createWorkloadObjects,
  deleteNodeLease,
  schedulerConfiguration,
  waitForNode,
} from "./workloads.ts";

const defaultStartTimeoutMs = 180_000;
const portAttempts = 5;

/** Resolves when the API server and the controllers are ready and, with workloads, the node is Ready. */
export async function startControlPlane(spec: ControlPlaneSpec): Promise<ControlPlane> {
  await assertStopped(spec.dir);
  await mkdir(spec.dir, { recursive: true, mode: 0o700 });
  const pki = await ensurePki(join(spec.dir, "pki"), spec.name);
  const stored = await readPorts(spec.dir);
  if (stored !== undefined) return startOn(spec, pki, stored);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOn(spec, pki, await choosePorts(spec.dir));
    } catch (thrown) {
      // Another process has bound the port since it was chosen. No client knows this cluster yet: choose again.
      if (attempt === portAttempts || !isPortInUse(thrown)) throw thrown;
    }
  }
}

async function startOn(
  spec: ControlPlaneSpec,
  pki: ClusterPki,
  ports: ClusterPorts,
): Promise<ControlPlane> {
  const layout: ControlPlaneLayout = {
    pkiDir: pki.dir,
    etcdDir: spec.etcdDir ?? join(spec.dir, "etcd"),
    apiPort: ports.api,
    etcdPort: ports.etcd,
  };
  const server = `https://127.0.0.1:${ports.api}`;
  const kubeconfigs = await writeKubeconfigs(spec, server, pki);
  const parts = createParts(spec);
  const api = apiClient(server, { ca: pki.ca, client: pki.clients.admin });
  try {
    await startParts(spec, layout, { parts, api, kubeconfigs, server, pki });
  } catch (thrown) {
    // An API server that waits for etcd ignores SIGTERM, and there is no data to lose.
    await parts.stop(300);
    throw thrown;
  } finally {
    await api.close();
  }
  return {
    name: spec.name,
    dir: spec.dir,
    server,
    kubeconfig: kubeconfigs.admin,
    pki,
    etcdDir: layout.etcdDir,
    processes: parts.list,
    get pids() {
      return parts.list.map((part) => part.identity.pid);
    },
    part: (tool) => parts.list.find(({ name }) => name === `${tool} of ${spec.name}`),
    restart: (tool) => parts.restart(tool),
    stop: () => parts.stop(),
  };
}

interface Starting {
  readonly parts: Parts;
  readonly api: ApiClient;
  readonly kubeconfigs: Readonly<Record<ClientName, string>>;
  readonly server: string;
  readonly pki: ClusterPki;
}

async function startParts(
  spec: ControlPlaneSpec,
  layout: ControlPlaneLayout,
  starting: Starting,
): Promise<void> {
  const { parts, api, kubeconfigs, server, pki } = starting;
  const timeoutMs = spec.startTimeoutMs ?? defaultStartTimeoutMs;
  // The API server waits for etcd, so start both in parallel.
  await parts.start("etcd", etcdArguments(layout));
  await parts.start("kube-apiserver", apiServerArguments(layout));
  await parts.whileAlive((signal) =>
    waitUntil(async () => (await api.call("GET", "/readyz")).status === 200, {
      what: `kube-apiserver of ${spec.name}`,
      timeoutMs,
      signal,
    }),
  );
  await parts.start(
    "kube-controller-manager",
    controllerManagerArguments(layout, kubeconfigs["controller-manager"]),
  );
  if (spec.workloads) {
    const schedulerConfig = join(spec.dir, "scheduler.yaml");
    await writeFile(schedulerConfig, schedulerConfiguration(kubeconfigs.scheduler), {
      mode: 0o600,
    });
    await parts.start("kube-scheduler", schedulerArguments(schedulerConfig));
    // It holds nothing and sometimes crashes: kwok v0.8.0 prepares each kind of stage at its first object, without a
    // lock around what all kinds share ("concurrent map writes" in easycel), and ends when two come at once.
    await parts.start("kwok", kwokArguments(kubeconfigs.kwok, kwokConfigFile()), () =>
      releaseNode(server, pki),
    );
  }
  await parts.whileAlive(async (signal) => {
    if (spec.workloads) await createWorkloadObjects(api);
    // Pods are rejected until the controller manager has created the service account of their namespace.
    await waitUntil(async () => (await api.call("GET", defaultServiceAccount)).status === 200, {
      what: `kube-controller-manager of ${spec.name}`,
      timeoutMs,
      signal,
    });
    if (spec.workloads) await waitForNode(api, { timeoutMs, signal });
  });
}

/** Takes the node from the kwok before, which has ended. Another one would leave pods Pending until its Lease expires. */
async function releaseNode(server: string, pki: ClusterPki): Promise<void> {
  const api = apiClient(server, { ca: pki.ca, client: pki.clients.admin });
  try {
    await deleteNodeLease(api);
  } finally {
    await api.close();
  }
}

const defaultServiceAccount = "/api/v1/namespaces/default/serviceaccounts/default";

async function writeKubeconfigs(
  spec: ControlPlaneSpec,
  server: string,
  pki: ClusterPki,
): Promise<Readonly<Record<ClientName, string>>> {
  const write = async (client: ClientName, file: string): Promise<string> => {
    const path = join(spec.dir, file);
    await writeKubeconfig(
      path,
      formatKubeconfig([{ name: spec.name, server, ca: pki.ca, client: pki.clients[client] }]),
    );
    return path;
  };
  return {
    admin: await write("admin", "kubeconfig"),
    "controller-manager": await write("controller-manager", "controller-manager.kubeconfig"),
    scheduler: await write("scheduler", "scheduler.kubeconfig"),
    kwok: await write("kwok", "kwok.kubeconfig"),
  };
}

function kwokConfigFile(): string {
  return fileURLToPath(new URL("../../kwok/config.yaml", import.meta.url));
}
