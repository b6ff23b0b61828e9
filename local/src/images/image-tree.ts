/**
 * The file tree of an image: the bundled program, Node, for the agent Helm, kustomize and the launcher of the sandbox, and the
 * files of Debian: git, ssh and gpgv for Git repositories, and what all of these need. The same inputs give the same bytes: names
 * are sorted, times and owners are fixed when the image is built.
 */
import { execFile } from "node:child_process";
import {
  chmod,
  copyFile,
  link,
  mkdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Dispatcher } from "undici";
import { localErrors } from "../errors.ts";
import { bundledPackages, bundleProgram, type ProgramName } from "./bundle.ts";
import {
  type Architecture,
  controlOf,
  type DebianFile,
  type FetchOptions,
  fetchPackage,
  filesOf,
  readDebianLock,
} from "./debian-packages.ts";
import { type Component, formatSbom, goComponents, packageUrl } from "./sbom.ts";

const run = promisify(execFile);

export interface ImageTreeOptions {
  readonly program: ProgramName;
  readonly architecture: Architecture;
  /** The folder of the tree; it is replaced. */
  readonly dir: string;
  /** The program of Node for this architecture, with its version. */
  readonly node: { readonly path: string; readonly version: string };
  /** For this architecture. Only for the agent. */
  readonly tools?: AgentTools;
  /** Absent: without Debian's files, for programs that run with this machine's. */
  readonly debian?: DebianSource;
}

/** Paths of the programs that the agent runs. */
export interface AgentTools {
  readonly helm: string;
  readonly kustomize: string;
  readonly confine: string;
}

export interface DebianSource {
  /** URL of a mirror of Debian. */
  readonly mirror: string;
  /** Where packages of Debian are kept. */
  readonly cacheDir: string;
  readonly client: Dispatcher;
}

/** The user and the group in an image. */
export const imageUser = 65_532;

/** Folders that volumes are mounted on, and that exist for runtimes that cannot create them in a read-only tree. */
const emptyDirs = [
  "tmp",
  "proc",
  "dev",
  "var/lib/flotilla",
  "var/run/secrets/kubernetes.io/serviceaccount",
  "etc/flotilla/ca",
];

const textFiles: Readonly<Record<string, string>> = {
  "etc/passwd": `root:x:0:0:root:/:/none\nflotilla:x:${imageUser}:${imageUser}:flotilla:/tmp:/none\n`,
  "etc/group": `root:x:0:\nflotilla:x:${imageUser}:\n`,
  "etc/nsswitch.conf": "hosts: files dns\n",
};

/** Where scanners look for the SBOM. */
export const sbomPath = "usr/share/sbom/flotilla.spdx.json";

/** With the list of what it contains. Throws IMAGE_BUILD_FAILED. */
export async function writeImageTree(options: ImageTreeOptions): Promise<void> {
  const { program, dir, node, tools } = options;
  const { inputs, debian } = await writeFileTree(options);
  const components: readonly Component[] = [
    ...debian,
    { kind: "generic", name: "node", version: node.version },
    ...(await bundledPackages(inputs)).map((each) => npmComponent(each)),
    ...(tools === undefined ? [] : await goComponentsOf(tools)),
  ];
  const sbom = { name: `flotilla-${program}`, version: buildVersion, components };
  await write(dir, sbomPath, formatSbom(sbom));
}

/** Returns the paths of the bundled files, and the packages of Debian. Throws IMAGE_BUILD_FAILED. */
export async function writeFileTree(
  options: ImageTreeOptions,
): Promise<{ readonly inputs: readonly string[]; readonly debian: readonly Component[] }> {
  const { program, dir, node, tools, architecture, debian } = options;
  await rm(dir, { recursive: true, force: true });
  for (const each of emptyDirs) await mkdir(join(dir, each), { recursive: true });
  await chmod(join(dir, "tmp"), 0o1777);
  for (const [path, text] of Object.entries(textFiles)) await write(dir, path, text);
  const inputs = await bundleProgram(program, join(dir, "opt", "flotilla"));
  await copyProgram(node.path, join(dir, "usr/bin/node"));
  for (const name of ["helm", "kustomize", "confine"] as const)
    if (tools !== undefined) await copyProgram(tools[name], join(dir, "usr/bin", name));
  const packages = debian && (await writeDebianFiles(dir, { ...debian, architecture }));
  return { inputs, debian: packages ?? [] };
}

async function writeDebianFiles(dir: string, options: FetchOptions): Promise<readonly Component[]> {
  const { architecture } = options;
  const lock = await readDebianLock();
  const certificates: string[] = [];
  const components: Component[] = [];
  for (const pinned of lock.packages) {
    const file = await fetchPackage(pinned, options);
    for (const each of await filesOf(file, pinned)) {
      if (each.path.endsWith(".crt") && "bytes" in each.content)
        certificates.push(each.content.bytes.toString().trimEnd());
      else await writeDebianFile(dir, each);
    }
    // As in images of Debian without dpkg: scanners read it.
    await write(dir, `var/lib/dpkg/status.d/${pinned.name}`, await controlOf(file));
    const { name, version } = pinned;
    components.push({ kind: "deb", name, version, architecture, release: lock.release });
  }
  await write(dir, "etc/ssl/certs/ca-certificates.crt", `${certificates.sort().join("\n")}\n`);
  return components;
}

async function writeDebianFile(dir: string, { path, mode, content }: DebianFile): Promise<void> {
  const to = join(dir, path);
  await mkdir(dirname(to), { recursive: true });
  if ("linkTo" in content) await symlink(content.linkTo, to);
  else {
    await writeFile(to, content.bytes);
    await chmod(to, mode);
  }
}

async function write(dir: string, path: string, text: string): Promise<void> {
  const to = join(dir, path);
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, text, { mode: 0o644 });
}

/** Linked where that is possible: programs are most of a tree. `from` may be a symbolic link, which would lead out of the tree. */
async function copyProgram(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  const program = await realpath(from);
  await link(program, to).catch(() => copyFile(program, to));
  await chmod(to, 0o755);
}

function npmComponent(nameAndVersion: string): Component {
  const at = nameAndVersion.lastIndexOf("@");
  return {
    kind: "npm",
    name: nameAndVersion.slice(0, at),
    version: nameAndVersion.slice(at + 1),
  };
}

/** The modules of the programs; many are the same. */
async function goComponentsOf(tools: AgentTools): Promise<readonly Component[]> {
  const programs = [tools.helm, tools.kustomize, tools.confine];
  const all = await Promise.all(
    programs.map(async (each) => goComponents(await goBuildInfo(each))),
  );
  return [...new Map(all.flat().map((each) => [packageUrl(each), each])).values()];
}

/** The output of `go version -m`. */
async function goBuildInfo(program: string): Promise<string> {
  try {
    const { stdout } = await run("go", ["version", "-m", program], { maxBuffer: 16 * 1024 * 1024 });
    return stdout;
  } catch (thrown) {
    throw new AppError(
      localErrors.IMAGE_BUILD_FAILED,
      `read the modules of ${program}: go version -m: ${messageOf(thrown)}`,
    );
  }
}

/** The machine in the header of an ELF file. Throws IMAGE_BUILD_FAILED for another file. */
export async function elfArchitecture(file: string): Promise<Architecture> {
  const header = (await readFile(file)).subarray(0, 20);
  const machine = header.subarray(0, 4).toString("latin1") === "\x7fELF" && header.readUInt16LE(18);
  if (machine === 0x3e) return "amd64";
  if (machine === 0xb7) return "arm64";
  throw new AppError(
    localErrors.IMAGE_BUILD_FAILED,
    `${file} is not a program for Linux on amd64 or arm64`,
  );
}
