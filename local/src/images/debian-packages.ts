/** The files of Debian in the images: packages pinned by version and sha256 in local/images/debian.json. */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { extract } from "tar-stream";
import { type Dispatcher, request } from "undici";
import * as z from "zod";
import { localErrors } from "../errors.ts";

const run = promisify(execFile);

export type Architecture = "amd64" | "arm64";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const lockSchema = z.strictObject({
  /** The release of Debian. */
  release: z.string(),
  packages: z.array(
    z.strictObject({
      name: z.string(),
      version: z.string(),
      /** On a mirror; ARCH stands for the architecture. */
      path: z.string(),
      sha256: z.strictObject({ amd64: sha256, arm64: sha256 }),
      /** A regular expression: which of its files an image gets. */
      files: z.string(),
    }),
  ),
});

export type DebianLock = z.infer<typeof lockSchema>;
export type DebianPackage = DebianLock["packages"][number];

export interface DebianFile {
  /** Without a leading slash. */
  readonly path: string;
  readonly mode: number;
  readonly content: { readonly bytes: Buffer } | { readonly linkTo: string };
}

const lockFile = new URL("../../images/debian.json", import.meta.url);

export async function readDebianLock(): Promise<DebianLock> {
  return lockSchema.parse(JSON.parse(await readFile(lockFile, "utf8")));
}

export interface FetchOptions {
  readonly architecture: Architecture;
  /** URL of a mirror of Debian. */
  readonly mirror: string;
  /** Where packages are kept. */
  readonly cacheDir: string;
  readonly client: Dispatcher;
}

/** The path of a package in the cache. Throws IMAGE_BUILD_FAILED. */
export async function fetchPackage(pinned: DebianPackage, options: FetchOptions): Promise<string> {
  const expected = pinned.sha256[options.architecture];
  const file = join(options.cacheDir, `${expected}.deb`);
  const cached = await readFile(file).catch(() => undefined);
  if (cached !== undefined && digestOf(cached) === expected) return file;
  const url = `${options.mirror}/${pinned.path.replace("ARCH", options.architecture)}`;
  const bytes = await download(url, options.client);
  const actual = digestOf(bytes);
  if (actual !== expected)
    throw failed(`download ${url}: downloaded sha256:${actual}, expected sha256:${expected}`);
  await mkdir(options.cacheDir, { recursive: true });
  const partial = `${file}.${process.pid}`;
  try {
    await writeFile(partial, bytes);
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
  return file;
}

async function download(url: string, dispatcher: Dispatcher): Promise<Buffer> {
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    const bytes = Buffer.from(await body.arrayBuffer());
    if (statusCode === 200) return bytes;
    throw failed(
      `download ${url}: HTTP status ${statusCode}; when the mirror has only a newer version, update local/images/debian.json`,
    );
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw failed(`download ${url}: ${messageOf(thrown)}`);
  }
}

/** Its files for an image. */
export async function filesOf(file: string, pinned: DebianPackage): Promise<readonly DebianFile[]> {
  const wanted = new RegExp(`^${pinned.files}`);
  const found: DebianFile[] = [];
  const child = spawn("dpkg-deb", ["--fsys-tarfile", file], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", (thrown) =>
      reject(failed(`unpack ${file}: dpkg-deb cannot be started: ${messageOf(thrown)}`)),
    );
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(failed(`unpack ${file}: dpkg-deb exited with code ${code}`)),
    );
  });
  const read = async (): Promise<void> => {
    for await (const entry of child.stdout.pipe(extract())) {
      const path = entry.header.name.replace(/^\.\//, "");
      const { type, mode = 0o644, linkname } = entry.header;
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      if (!wanted.test(path)) continue;
      if (type === "file") found.push({ path, mode, content: { bytes: Buffer.concat(chunks) } });
      else if (type === "symlink" && typeof linkname === "string")
        found.push({ path, mode, content: { linkTo: linkname } });
    }
  };
  await Promise.all([ended, read()]);
  if (found.length === 0) throw failed(`unpack ${file}: no file matches ${pinned.files}`);
  return found;
}

/** What dpkg knows of a package, for scanners: the text of its control file. */
export async function controlOf(file: string): Promise<string> {
  const { stdout } = await run("dpkg-deb", ["--field", file]);
  return stdout;
}

function digestOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function failed(message: string): AppError {
  return new AppError(localErrors.IMAGE_BUILD_FAILED, message);
}
