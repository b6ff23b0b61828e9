/** Writing the files of a commit to disk. Attributes of Git have no effect: the bytes are as in the commit. */
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { finished } from "node:stream/promises";
import { AppError } from "../../../runtime/errors/index.ts";
import { gitErrors } from "./errors.ts";
import { describeLimit } from "./git-error.ts";
import { createObjectReader, type ObjectReader } from "./object-stream.ts";
import type { Session } from "./session.ts";
import { linkLeaves, parseTree, type TreeEntry } from "./tree.ts";

export interface CheckoutLimits {
  /** The limit of all files together. */
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** What a checkout with its submodules and includes has written so far. */
export interface Written {
  bytes: number;
  files: number;
}

const maxLinkBytes = 4096;

export async function listTree(session: Session, commit: string): Promise<readonly TreeEntry[]> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit];
  const { stdout } = await session.git(`list the files of commit ${commit}`, args);
  return parseTree(stdout);
}

/**
 * Writes files. Links are not written, as in Flux's artifacts; one that leads out of the repository is an error where
 * `isChart` says that the chart would have it.
 */
export async function writeFiles(
  session: Session,
  entries: readonly TreeEntry[],
  options: {
    readonly dir: string;
    readonly limits: CheckoutLimits;
    readonly written: Written;
    readonly isChart: (path: string) => boolean;
  },
): Promise<void> {
  const { dir, limits, written, isChart } = options;
  const wanted = entries.filter((entry) => entry.kind === "file" || entry.kind === "link");
  written.files += wanted.length;
  if (written.files > limits.maxFiles)
    throw new AppError(
      gitErrors.GIT_TOO_LARGE,
      `${session.remote.description} has more than the limit of ${limits.maxFiles} files`,
    );
  const input = wanted.map(({ id }) => `${id}\n`).join("");
  await session.git("read the files", ["cat-file", "--batch", "--buffer"], {
    input,
    async read(output) {
      const objects = createObjectReader(output);
      for (const entry of wanted) {
        const object = await objects.next();
        if (object === undefined)
          throw new AppError(
            gitErrors.GIT_FAILED,
            `${session.remote.description} did not send the content of ${entry.path}`,
          );
        if (entry.kind === "link") {
          await skipLink(objects, entry.path, object.sizeBytes, isChart(entry.path));
          continue;
        }
        written.bytes += object.sizeBytes;
        if (written.bytes > limits.maxBytes)
          throw new AppError(
            gitErrors.GIT_TOO_LARGE,
            `the files of ${session.remote.description} exceed the limit of ${describeLimit(limits.maxBytes)}`,
          );
        await writeObject(objects, join(dir, entry.path), entry.isExecutable ? 0o755 : 0o644);
      }
    },
  });
}

async function writeObject(objects: ObjectReader, path: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // `wx`: two paths that are one file for this file system are an error.
  const file = createWriteStream(path, { mode, flags: "wx" });
  const done = finished(file);
  done.catch(() => undefined);
  for await (const chunk of objects.content()) {
    if (!file.write(chunk))
      await Promise.race([new Promise<void>((go) => file.once("drain", () => go())), done]);
  }
  file.end();
  await done;
}

async function skipLink(
  objects: ObjectReader,
  path: string,
  sizeBytes: number,
  isChart: boolean,
): Promise<void> {
  const chunks: Buffer[] = [];
  if (sizeBytes > maxLinkBytes)
    throw new AppError(gitErrors.GIT_CONTENT_INVALID, `the link ${path} is too long`);
  for await (const chunk of objects.content()) chunks.push(chunk);
  const target = Buffer.concat(chunks).toString();
  if (isChart && linkLeaves(path, target))
    throw new AppError(
      gitErrors.GIT_CONTENT_INVALID,
      `${path} is a symbolic link out of the repository`,
    );
}
