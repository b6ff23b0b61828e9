/**
 * `npm run images`: writes the file trees of the images to `build/images`, checks them, and builds the images with buildah where
 * it is installed. `--architecture arm64` builds for another one, `--program hub` only one of the programs.
 */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import {
  downloadClient,
  ensureBinaries,
  plainProgress,
  publisherBases,
} from "@flotilla/local/binaries";
import { readLocalConfig } from "@flotilla/local/config";
import {
  type AgentTools,
  type Architecture,
  elfArchitecture,
  type ProgramName,
  programs,
  writeImageTree,
} from "@flotilla/local/images";
import { buildVersion } from "@flotilla/shared/buildinfo";

const run = promisify(execFile);
// Files of the trees have the same modes no matter who builds them.
process.umask(0o022);
const root = join(import.meta.dirname, "..");
const output = join(root, "build", "images");
const architectures = ["amd64", "arm64"] as const;
const own: Architecture = process.arch === "arm64" ? "arm64" : "amd64";

const { values } = parseArgs({
  options: {
    architecture: { type: "string", multiple: true, default: [own] },
    program: { type: "string", multiple: true, default: [...programs] },
  },
});
const chosenArchitectures = architectures.filter((each) => values.architecture.includes(each));
const chosenPrograms = programs.filter((each) => values.program.includes(each));
const config = readLocalConfig();
const client = downloadClient(config.proxy);
const hasBuildah = await run("buildah", ["--version"]).then(
  () => true,
  () => false,
);
if (!hasBuildah) console.log("buildah is not installed: only the file trees are written");

try {
  for (const architecture of chosenArchitectures) {
    const node = await nodeFor(architecture);
    const tools = await ensureBinaries(["helm", "kustomize", "confine"], {
      platform: { os: "linux", arch: architecture },
      // A program on the PATH is for this machine, and not the pinned one.
      config: { ...config, path: [] },
      progress: plainProgress(process.stdout),
    });
    for (const program of chosenPrograms) await build(program, architecture, node, tools);
  }
} finally {
  await client.close();
}

async function build(
  program: ProgramName,
  architecture: Architecture,
  node: string,
  tools: AgentTools,
): Promise<void> {
  const context = join(output, `${program}-${architecture}`);
  await mkdir(context, { recursive: true });
  const dir = join(context, "rootfs");
  await writeImageTree({
    program,
    architecture,
    dir,
    node: { path: node, version: process.versions.node },
    ...(program === "agent" && { tools }),
    debian: {
      mirror: config.mirrors.debian ?? publisherBases.debian,
      cacheDir: join(config.cacheDir, "debian"),
      client,
    },
  });
  await copyFile(join(root, "local", "images", program, "Dockerfile"), join(context, "Dockerfile"));
  for (const each of await readdir(join(dir, "usr/bin"))) {
    const found = await elfArchitecture(join(dir, "usr/bin", each));
    if (found !== architecture)
      throw new Error(`${program}-${architecture}: usr/bin/${each} is for ${found}`);
  }
  console.log(`${program}-${architecture}: file tree of ${await sizeOf(dir)} in ${dir}`);
  if (hasBuildah) await buildImage(program, architecture, context);
}

/** Layers and configuration have the same bytes for the same tree. */
async function buildImage(
  program: ProgramName,
  architecture: Architecture,
  context: string,
): Promise<void> {
  const store = await mkdtemp(join(tmpdir(), "flotilla-images-"));
  const storage = ["--storage-driver=vfs", `--root=${store}/root`, `--runroot=${store}/run`];
  const name = `flotilla/${program}:${buildVersion}`;
  const archive = join(output, `${program}-${buildVersion}-${architecture}.tar`);
  try {
    await run("buildah", [
      ...storage,
      ...["build", "--isolation=chroot", "--format=oci", `--arch=${architecture}`],
      // Times and owners of the files.
      ...["--timestamp=0", `--label=org.opencontainers.image.version=${buildVersion}`],
      ...["--tag", name, context],
    ]);
    await rm(archive, { force: true });
    await run("buildah", [...storage, "push", name, `oci-archive:${archive}:${name}`]);
    console.log(
      `${program}-${architecture}: image ${await digestOf(archive)} of ${await sizeOf(archive)} in ${archive}`,
    );
  } finally {
    await rm(store, { recursive: true, force: true });
  }
}

async function digestOf(archive: string): Promise<string> {
  const { stdout } = await run("tar", [
    "--extract",
    "--to-stdout",
    "--file",
    archive,
    "index.json",
  ]);
  const index = JSON.parse(stdout) as {
    readonly manifests: readonly { readonly digest: string }[];
  };
  return index.manifests[0]?.digest ?? "";
}

async function sizeOf(path: string): Promise<string> {
  const { stdout } = await run("du", ["--summarize", "--bytes", path]);
  return `${(Number.parseInt(stdout, 10) / 1e6).toFixed(0)} MB`;
}

/** The pinned Node for an architecture: this one, or the package of npm that has it. */
async function nodeFor(architecture: Architecture): Promise<string> {
  if (architecture === own) return process.execPath;
  const dir = join(config.cacheDir, "node", `${process.versions.node}-${architecture}`);
  const path = join(dir, "package", "bin", "node");
  if (await stat(path).catch(() => undefined)) return path;
  await mkdir(dir, { recursive: true });
  const suffix = architecture === "amd64" ? "x64" : architecture;
  const spec = `node-linux-${suffix}@${process.versions.node}`;
  // npm verifies the archive by the digest that the registry has for it.
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", dir, spec]);
  const archive = join(dir, stdout.trim());
  await run("tar", ["--extract", "--gzip", "--file", archive, "--directory", dir]);
  await rm(archive);
  await readFile(path);
  return path;
}
