/** Writes the volumes of a pod to a folder. */
import { chown, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ContainerConfigError, fieldOf, type Sources } from "./container.ts";
import type { Pod, Volume } from "./resources.ts";

export interface VolumeContext {
  readonly pod: Pod;
  readonly podIp: string;
  readonly sources: Sources;
  /** A token of the pod's service account. */
  token(request: TokenRequest): Promise<string>;
  /** Who owns the files; undefined: the user who runs this. */
  readonly owner: { readonly user: number; readonly group: number } | undefined;
}

export interface TokenRequest {
  readonly audience?: string;
  readonly expirationSeconds: number;
}

/** Writes each volume to a folder of its name in `dir`; again, with new contents. Throws ContainerConfigError. */
export async function writeVolumes(dir: string, context: VolumeContext): Promise<void> {
  for (const volume of context.pod.spec?.volumes ?? []) {
    const to = join(dir, volume.name);
    await mkdir(to, { recursive: true, mode: 0o755 });
    const files = await filesOf(volume, context);
    if (files === undefined) await own(to, context);
    else
      for (const [path, text] of Object.entries(files)) await write(join(to, path), text, context);
  }
}

type Files = Readonly<Record<string, string>>;

/** By path in the volume; undefined for a folder that the container writes to. */
async function filesOf(volume: Volume, context: VolumeContext): Promise<Files | undefined> {
  if (volume.emptyDir !== undefined) return undefined;
  if (volume.secret !== undefined)
    return selected(
      "Secret",
      { ...volume.secret, name: volume.secret.secretName },
      context.sources.secret,
    );
  if (volume.configMap !== undefined)
    return selected("ConfigMap", volume.configMap, context.sources.configMap);
  if (volume.projected === undefined)
    throw new ContainerConfigError(`volume ${volume.name} is of a kind that is not supported`);
  const files: Record<string, string> = {};
  for (const source of volume.projected.sources ?? []) {
    if (source.serviceAccountToken !== undefined) {
      const { path, audience, expirationSeconds = 3_600 } = source.serviceAccountToken;
      files[path] = await context.token({ expirationSeconds, ...(audience && { audience }) });
    }
    if (source.secret !== undefined)
      Object.assign(files, selected("Secret", source.secret, context.sources.secret));
    if (source.configMap !== undefined)
      Object.assign(files, selected("ConfigMap", source.configMap, context.sources.configMap));
    for (const { path, fieldRef } of source.downwardAPI?.items ?? [])
      files[path] = fieldOf(context.pod, context.podIp, fieldRef?.fieldPath ?? "");
  }
  return files;
}

interface Selection {
  readonly name?: string | undefined;
  readonly optional?: boolean;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

function selected(
  kind: string,
  { name = "", optional, items }: Selection,
  find: (name: string) => Files | undefined,
): Files {
  const data = find(name);
  if (data === undefined) {
    if (optional === true) return {};
    throw new ContainerConfigError(`${kind} ${name} does not exist`);
  }
  if (items === undefined) return data;
  return Object.fromEntries(
    items.map(({ key, path }) => {
      const text = data[key];
      if (text === undefined) throw new ContainerConfigError(`${kind} ${name} has no key ${key}`);
      return [path, text];
    }),
  );
}

/** Replaced as a whole: the process may read it meanwhile. */
async function write(path: string, text: string, context: VolumeContext): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.new`;
  await writeFile(fresh, text, { mode: 0o640 });
  await own(fresh, context);
  await rename(fresh, path);
}

async function own(path: string, { owner }: VolumeContext): Promise<void> {
  if (owner !== undefined) await chown(path, owner.user, owner.group);
}
