/** The images of the local fleet: file trees in the cache, which are written again when a source has changed. */
import { createHash } from "node:crypto";
import { glob, mkdir, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { downloadClient, publisherBases } from "../binaries/index.ts";
import type { LocalConfig } from "../config.ts";
import { withLock } from "../process/index.ts";
import { type ProgramName, programs } from "./bundle.ts";
import { type AgentTools, writeFileTree } from "./image-tree.ts";

export interface LocalImagesOptions {
  readonly config: LocalConfig;
  readonly tools: AgentTools;
  /** Without Debian's files the programs of a tree need this machine's. */
  readonly withDebian: boolean;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** What a bundle consists of, and what is copied beside it. */
const sources = [
  "{proto,shared,hub,agent}/{src/**/*.ts,*.proto,package.json}",
  "dashboard/{src/**/*,index.html,package.json,vite.config.ts}",
  "local/src/images/*.ts",
  "local/images/**/*",
  "package-lock.json",
];

/** The paths of the file trees. Throws IMAGE_BUILD_FAILED. */
export async function ensureImageTrees(
  options: LocalImagesOptions,
): Promise<Readonly<Record<ProgramName, string>>> {
  const { config, withDebian } = options;
  const dir = join(config.cacheDir, "images");
  const digest = await digestOf(options);
  const client = downloadClient(config.proxy);
  const debian = {
    mirror: config.mirrors.debian ?? publisherBases.debian,
    cacheDir: join(config.cacheDir, "debian"),
    client,
  };
  const ensure = async (program: ProgramName): Promise<string> => {
    const name = `${program}-${digest}`;
    const tree = join(dir, name);
    if (await exists(tree)) return tree;
    const partial = `${tree}.partial`;
    await writeFileTree({
      program,
      architecture: process.arch === "arm64" ? "arm64" : "amd64",
      dir: partial,
      node: { path: process.execPath, version: process.versions.node },
      ...(program === "agent" && { tools: options.tools }),
      ...(withDebian && { debian }),
    });
    await rename(partial, tree);
    return tree;
  };
  await mkdir(dir, { recursive: true });
  try {
    return await withLock(join(config.cacheDir, "locks", "images"), async () => {
      const [hub, agent] = await Promise.all(programs.map(ensure));
      await removeOld(dir, digest);
      return { hub: hub ?? "", agent: agent ?? "" };
    });
  } finally {
    await client.close();
  }
}

async function digestOf({ tools, withDebian }: LocalImagesOptions): Promise<string> {
  // A symbolic link may lead to another version tomorrow.
  const programs = await Promise.all(
    [tools.helm, tools.kustomize, tools.confine].map((path) => realpath(path)),
  );
  const hash = createHash("sha256").update(JSON.stringify([process.version, programs, withDebian]));
  const paths: string[] = [];
  for await (const path of glob(sources, {
    cwd: root,
    exclude: (each) => /\.test\.ts$/.test(each),
  }))
    paths.push(path);
  for (const path of paths.sort()) {
    const file = join(root, path);
    if ((await stat(file)).isFile()) hash.update(path).update(await readFile(file));
  }
  return hash.digest("hex").slice(0, 16);
}

/** A tree takes 0.2 GB. Trees of other checkouts are written again when they are needed. */
const maxAgeMs = 24 * 3_600_000;

async function removeOld(dir: string, digest: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name.endsWith(digest)) continue;
    const path = join(dir, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > maxAgeMs) await rm(path, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
