/**
 * Single files of a commit, without all others; those in a submodule are read from the submodule's repository. What a server
 * sends is not trusted: the size of each content is known, and room for it reserved, before it is read.
 */
import { AppError } from "../../../runtime/errors/index.ts";
import type { RepositoryAccess } from "../index.ts";
import { gitErrors } from "./errors.ts";
import { fetchCommit, fetchObjects } from "./fetch.ts";
import { describeLimit } from "./git-error.ts";
import { createObjectReader, type ObjectReader } from "./object-stream.ts";
import { submodulesAbove } from "./read-modules.ts";
import type { Session } from "./session.ts";
import { submoduleAccess } from "./submodules.ts";
import { cleanPath } from "./tree.ts";
import { listPaths, parentsOf } from "./tree-paths.ts";

export interface WantedFile {
  /** From the root. */
  readonly path: string;
  /** The limit of its content; absent: only whether there is such a file. */
  readonly maxBytes?: number;
}

export interface FilesAt {
  readonly url: string;
  readonly commit: string;
  readonly files: readonly WantedFile[];
  readonly recurseSubmodules?: boolean | undefined;
}

/** What the commit has of the files, by their paths as they were given. */
export interface FoundFiles<T> {
  readonly present: ReadonlySet<string>;
  readonly contents: ReadonlyMap<string, T>;
}

export interface ReadContents<T> {
  /** What is kept of a content. */
  readonly parse: (path: string, bytes: Buffer) => T | Promise<T>;
  /** The limit of all contents of the read together. */
  readonly maxTotalBytes: number;
  /** Runs `work` as soon as there is room for the bytes of a content. */
  readonly reserve: <R>(bytes: number, work: () => Promise<R>) => Promise<R>;
}

export interface ReadFilesDeps<T> extends ReadContents<T> {
  readonly open: (url: string, access: RepositoryAccess) => Promise<Session>;
  /** Submodules of submodules. */
  readonly maxDepth: number;
}

export async function readFiles<T>(
  deps: ReadFilesDeps<T>,
  at: FilesAt,
  access: RepositoryAccess,
): Promise<FoundFiles<T>> {
  let readBytes = 0;

  async function readAt(
    { url, commit, files, recurseSubmodules }: FilesAt,
    access: RepositoryAccess,
    depth: number,
  ): Promise<FoundFiles<T>> {
    await using session = await deps.open(url, access);
    await fetchCommit(session, commit, "blob:none");
    const clean = new Map(files.map(({ path }) => [path, cleanPath(path)] as const));
    const entries = await listPaths(session, commit, clean.values());
    const present = new Set<string>();
    const wanted: Wanted[] = [];
    const missing: WantedFile[] = [];
    for (const file of files) {
      const entry = entries.get(clean.get(file.path) ?? "");
      if (entry?.kind !== "file") {
        missing.push(file);
        continue;
      }
      present.add(file.path);
      if (file.maxBytes !== undefined)
        wanted.push({ path: file.path, maxBytes: file.maxBytes, id: entry.id });
    }
    const contents = await readContents(session, commit, wanted);
    if (recurseSubmodules !== true || missing.length === 0 || depth === 0)
      return { present, contents };
    const paths = missing.flatMap(({ path }) => clean.get(path) ?? []);
    for (const module of await submodulesAbove(session, { url, commit }, paths)) {
      const inside = missing.flatMap((file) => {
        const path = clean.get(file.path) ?? "";
        return parentsOf(path).includes(module.path)
          ? [{ file, below: path.slice(module.path.length + 1) }]
          : [];
      });
      const found = await readAt(
        {
          ...module,
          files: inside.map(({ file, below }) => ({ ...file, path: below })),
          recurseSubmodules,
        },
        submoduleAccess(url, access, module.url, module.path),
        depth - 1,
      );
      for (const { file, below } of inside) {
        if (!found.present.has(below)) continue;
        present.add(file.path);
        const content = found.contents.get(below);
        if (content !== undefined) contents.set(file.path, content);
      }
    }
    return { present, contents };
  }

  async function readContents(
    session: Session,
    commit: string,
    wanted: readonly Wanted[],
  ): Promise<Map<string, T>> {
    const contents = new Map<string, T>();
    if (wanted.length === 0) return contents;
    const what = `read files of commit ${commit}`;
    await fetchObjects(session, what, { commit, ids: wanted.map(({ id }) => id) });
    await session.git(what, ["cat-file", "--batch"], {
      input: wanted.map(({ id }) => `${id}\n`).join(""),
      async read(output) {
        const objects = createObjectReader(output);
        for (const file of wanted)
          contents.set(file.path, await readContent(session, objects, file));
      },
    });
    return contents;
  }

  async function readContent(
    { remote }: Session,
    objects: ObjectReader,
    { path, maxBytes }: Wanted,
  ): Promise<T> {
    const object = await objects.next();
    if (object === undefined)
      throw new AppError(
        gitErrors.GIT_FAILED,
        `cannot read ${path}: ${remote.description} did not send its content`,
      );
    if (object.sizeBytes > maxBytes)
      throw new AppError(
        gitErrors.GIT_TOO_LARGE,
        `${path} of ${remote.description} has ${object.sizeBytes} bytes, more than the limit of ${maxBytes}`,
      );
    readBytes += object.sizeBytes;
    if (readBytes > deps.maxTotalBytes)
      throw new AppError(
        gitErrors.GIT_TOO_LARGE,
        `the files that are read of ${remote.description} exceed the limit of ${describeLimit(deps.maxTotalBytes)}`,
      );
    return await deps.reserve(object.sizeBytes, async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of objects.content()) chunks.push(chunk);
      return await deps.parse(path, Buffer.concat(chunks));
    });
  }

  return await readAt(at, access, deps.maxDepth);
}

interface Wanted {
  readonly path: string;
  readonly maxBytes: number;
  readonly id: string;
}
