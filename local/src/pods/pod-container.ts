/** Starts the container of a pod, with its volumes and its hosts file. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "@flotilla/shared/log";
import { type RunningProcess, startProcess, type Watchers, watchersOf } from "../process/index.ts";
import { commandOf, type Sources } from "./container.ts";
import { formatHosts } from "./hosts.ts";
import { findImage, type LocalImage, type LocalImages } from "./image.ts";
import { enter, type Isolation, type Mount } from "./isolation.ts";
import type { Container, Pod } from "./resources.ts";
import { type TokenRequest, writeVolumes } from "./volumes.ts";

export interface ContainerDeps extends Watchers {
  /** The name of the cluster, for the names of processes. */
  readonly cluster: string;
  readonly images: LocalImages;
  readonly isolation: Isolation;
  /** `https://host:port` of the API server. */
  readonly server: string;
  /** The folder of this pod: volumes, the hosts file. */
  readonly dir: string;
  readonly logFile: string;
  readonly hosts: () => ReadonlyMap<string, string>;
  readonly sources: () => Promise<Sources>;
  readonly token: (request: TokenRequest) => Promise<string>;
  readonly log: Log;
}

/** A pod and its address. */
export interface PlacedPod {
  readonly pod: Pod;
  readonly ip: string;
}

/** Throws ContainerConfigError, and PROCESS_FAILED. */
export async function startContainer(
  placed: PlacedPod,
  container: Container,
  image: LocalImage,
  deps: ContainerDeps,
): Promise<RunningProcess> {
  const { pod, ip } = placed;
  const server = new URL(deps.server);
  const scratch = join(deps.dir, "root");
  await mkdir(scratch, { recursive: true });
  const sources = await deps.sources();
  await writeHosts(placed, deps);
  await writePodVolumes(placed, sources, deps);
  const { argv, environment } = enter(
    {
      command: commandOf(container, {
        pod,
        podIp: ip,
        image,
        sources,
        apiServer: server.host,
      }),
      image,
      mounts: mountsOf(container, deps),
      scratch,
      isReadOnly: container.securityContext?.readOnlyRootFilesystem === true,
      kubeconfig: await writeKubeconfig(container, deps),
      hosts: deps.hosts(),
    },
    deps.isolation,
  );
  const [command = "", ...args] = argv;
  return startProcess({
    name: `pod ${pod.metadata.namespace}/${pod.metadata.name} of ${deps.cluster}`,
    command,
    args,
    // `unshare` is found by it before the program of the image is.
    env: { ...environment, PATH: `${environment["PATH"] ?? ""}:/usr/sbin:/usr/bin:/sbin:/bin` },
    logFile: deps.logFile,
    ...watchersOf(deps),
  });
}

function mountsOf(container: Container, { dir }: ContainerDeps): readonly Mount[] {
  return [
    ...(container.volumeMounts ?? []).map(({ name, mountPath, subPath }) => ({
      source: join(dir, "volumes", name, subPath ?? ""),
      target: mountPath,
    })),
    { source: join(dir, "hosts"), target: "/etc/hosts" },
    { source: "/etc/resolv.conf", target: "/etc/resolv.conf" },
  ];
}

/** Written in place: the file itself is mounted. */
export async function writeHosts(
  { pod, ip }: PlacedPod,
  { dir, hosts }: ContainerDeps,
): Promise<void> {
  await writeFile(join(dir, "hosts"), formatHosts({ name: pod.metadata.name, ip }, hosts()));
}

export async function writePodVolumes(
  { pod, ip }: PlacedPod,
  sources: Sources,
  deps: ContainerDeps,
): Promise<void> {
  const image = findImage(deps.images, pod.spec?.containers[0]?.image ?? "");
  const hasUser = image !== undefined && deps.isolation.kind === "mount namespace";
  await writeVolumes(join(deps.dir, "volumes"), {
    pod,
    podIp: ip,
    sources,
    token: deps.token,
    owner: hasUser ? { user: image.user, group: image.group } : undefined,
  });
}

/** For a plain process; undefined for a pod without a token. */
async function writeKubeconfig(
  container: Container,
  deps: ContainerDeps,
): Promise<string | undefined> {
  if (deps.isolation.kind === "mount namespace") return undefined;
  const mount = container.volumeMounts?.find(({ mountPath }) =>
    mountPath.endsWith("/serviceaccount"),
  );
  if (mount === undefined) return undefined;
  const account = join(deps.dir, "volumes", mount.name);
  const path = join(deps.dir, "kubeconfig");
  const name = "pod";
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: { server: deps.server, "certificate-authority": join(account, "ca.crt") },
      },
    ],
    users: [{ name, user: { tokenFile: join(account, "token") } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  await writeFile(path, JSON.stringify(kubeconfig), { mode: 0o600 });
  return path;
}
