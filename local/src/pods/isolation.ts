/**
 * How a container enters its file tree: as root on Linux by a mount namespace of its own, in which the tree is the root and the
 * volumes are mounted; otherwise as a plain process whose paths point into the tree and the volumes.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Command } from "./container.ts";
import type { LocalImage } from "./image.ts";

const run = promisify(execFile);

export type Isolation =
  | { readonly kind: "mount namespace" }
  | { readonly kind: "plain process"; readonly reason: string };

/** What this machine has for isolation. */
export async function findIsolation(): Promise<Isolation> {
  if (process.platform !== "linux")
    return {
      kind: "plain process",
      reason: `mount namespaces need Linux, this is ${process.platform}`,
    };
  if (process.getuid?.() !== 0)
    return { kind: "plain process", reason: "only root may enter a mount namespace" };
  try {
    await run("unshare", [
      "--mount",
      "--propagation=private",
      "mount",
      "-t",
      "tmpfs",
      "tmpfs",
      "/mnt",
    ]);
    return { kind: "mount namespace" };
  } catch (thrown) {
    // biome-ignore lint/plugin: what the program prints
    const reason = thrown instanceof Error ? thrown.message.split("\n").at(-1) : String(thrown);
    return { kind: "plain process", reason: `a mount namespace is not permitted: ${reason}` };
  }
}

export interface Mount {
  /** A folder or file on this machine. */
  readonly source: string;
  /** The path in the container. */
  readonly target: string;
}

export interface Entry {
  readonly command: Command;
  readonly image: LocalImage;
  readonly mounts: readonly Mount[];
  /** An empty folder for the root of the container. */
  readonly scratch: string;
  readonly isReadOnly: boolean;
  /** The kubeconfig of the pod's service account, for a plain process, which cannot have files at the paths of a pod. */
  readonly kubeconfig: string | undefined;
  /** Addresses by the names of Services, for a plain process, which has no hosts file of its own. */
  readonly hosts: ReadonlyMap<string, string>;
}

/** The command that runs `entry` on this machine. Pure. */
export function enter(entry: Entry, isolation: Isolation): Command {
  return isolation.kind === "mount namespace" ? inNamespace(entry) : asProcess(entry);
}

/** `unshare`, `sh` and `unshare` again replace each other: signals and the exit are the program's. */
function inNamespace({ command, image, mounts, scratch, isReadOnly }: Entry): Command {
  const root = join(scratch, "root");
  const lines = [
    "set -e",
    // In memory, and gone with the namespace.
    `mount -t tmpfs tmpfs ${quoted(scratch)}`,
    `cd ${quoted(scratch)}`,
    "mkdir upper work root",
    `mount -t overlay overlay -o lowerdir=${quoted(image.dir)},upperdir=upper,workdir=work root`,
    "mkdir -p root/proc root/dev root/etc",
    "mount --rbind /proc root/proc",
    "mount --rbind /dev root/dev",
    ...mounts.flatMap(({ source, target }) => {
      const at = quoted(join(root, target));
      return [
        `if [ -d ${quoted(source)} ]; then mkdir -p ${at}; else touch ${at}; fi`,
        `mount --bind ${quoted(source)} ${at}`,
      ];
    }),
    ...(isReadOnly ? ["mount -o remount,ro root"] : []),
    `exec setpriv --no-new-privs unshare --root=root --wd=${quoted(image.workingDir)} --setgid=${image.group} --setuid=${image.user} -- "$@"`,
  ];
  return {
    argv: [
      ...["unshare", "--mount", "--propagation=private"],
      ...["/bin/sh", "-c", lines.join("\n"), "sh", ...command.argv],
    ],
    environment: command.environment,
  };
}

function asProcess({ command, image, mounts, kubeconfig, hosts }: Entry): Command {
  const paths = [
    ...mounts.map(({ source, target }) => [target, source] as const),
    ...["/usr", "/opt", "/etc"].map((dir) => [dir, join(image.dir, dir)] as const),
  ].sort(([a], [b]) => b.length - a.length);
  const onThisMachine = (text: string): string => {
    let moved = text;
    for (const [name, address] of hosts) moved = moved.replaceAll(name, address);
    const found = paths.find(([path]) => new RegExp(`(^|[=:])${path}(/|$)`).test(moved));
    return found === undefined ? moved : moved.replace(found[0], found[1]);
  };
  return {
    argv: command.argv.map(onThisMachine),
    environment: {
      ...Object.fromEntries(
        Object.entries(command.environment).map(([name, value]) => [name, onThisMachine(value)]),
      ),
      ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }),
    },
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
