/** The files of a cache of charts: found by digest and origin, verified once in each process, evicted when they are too many. */
import { randomUUID } from "node:crypto";
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../runtime/errors/index.ts";
import type { Log } from "../../../runtime/log/index.ts";
import type { Clock } from "../../../runtime/time/index.ts";
import type { FetchedArchive, Pin, WriteChunk } from "../index.ts";
import { type ChartFile, digestOfFile, writeChartFile } from "./chart-file.ts";
import {
  type CachedFile,
  evicted,
  formatArchiveName,
  isObsolete,
  parseArchiveName,
} from "./eviction.ts";

export interface ChartStoreOptions {
  /** Made with the key of the origins. */
  readonly dir: string;
  readonly maxBytes: number;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

export class ChartStore {
  readonly #options: ChartStoreOptions;
  /** The size of files whose digest this process has verified, by path. */
  readonly #verified = new Map<string, number>();
  /** How many use a chart, or are fetching it, by its origin. */
  readonly #users = new Map<string, number>();

  constructor(options: ChartStoreOptions) {
    this.#options = options;
  }

  /** Until the returned function is called, no file of the origin is evicted. Calling it again does nothing. */
  use(origin: string): () => void {
    this.#users.set(origin, (this.#users.get(origin) ?? 0) + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const left = (this.#users.get(origin) ?? 1) - 1;
      if (left === 0) this.#users.delete(origin);
      else this.#users.set(origin, left);
    };
  }

  /** The file of a digest from an origin; undefined when it is missing, or damaged, and then it is deleted. */
  async find(digest: string, origin: string): Promise<ChartFile | undefined> {
    const path = this.#pathOf(digest, origin);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) return undefined;
    if (this.#verified.get(path) !== found.size) {
      if ((await digestOfFile(path)) !== digest) {
        this.#verified.delete(path);
        this.#options.log.warn({ digest }, "cached chart is damaged; downloading it again");
        await rm(path, { force: true });
        return undefined;
      }
      this.#verified.set(path, found.size);
    }
    await this.#touch(path);
    return { path, digest, sizeBytes: found.size };
  }

  /** A chart from an origin whose digest is not known: an earlier process stored it, and the name of its file has the digest. */
  async findAny(origin: string): Promise<ChartFile | undefined> {
    for (const name of await readdir(this.#options.dir)) {
      const archive = parseArchiveName(name);
      if (archive?.origin !== origin) continue;
      const found = await this.find(archive.digest, origin);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Stores what `fetch` passes on, and evicts. Rejects as `fetch` does, and with CHART_CACHE when the disk fails; nothing is stored
   * then. What cannot be evicted is only logged.
   */
  async add(
    pin: Pin,
    origin: string,
    fetch: (write: WriteChunk) => Promise<FetchedArchive>,
  ): Promise<ChartFile> {
    const { dir, log } = this.#options;
    const partPath = join(dir, `part-${randomUUID()}`);
    const pathOf = (digest: string): string => this.#pathOf(digest, origin);
    const file = await writeChartFile(pin, { partPath, pathOf }, fetch);
    this.#verified.set(file.path, file.sizeBytes);
    await this.#touch(file.path);
    await this.#evict().catch((thrown: unknown) =>
      log.warn({ err: messageOf(thrown) }, "chart cache could not evict"),
    );
    return file;
  }

  #pathOf(digest: string, origin: string): string {
    return join(this.#options.dir, formatArchiveName({ digest, origin }));
  }

  async #touch(path: string): Promise<void> {
    const { clock, log } = this.#options;
    const used = new Date(clock.now());
    // Only the order of eviction depends on this time.
    await utimes(path, used, used).catch((thrown: unknown) =>
      log.debug({ err: messageOf(thrown) }, "access time of the cached chart not updated"),
    );
  }

  async #evict(): Promise<void> {
    const { dir, maxBytes } = this.#options;
    const files = await this.#list();
    for (const { name } of evicted(files, maxBytes, (origin) => this.#users.has(origin))) {
      await rm(join(dir, name), { force: true });
      this.#verified.delete(join(dir, name));
    }
  }

  /** Deletes those that are obsolete. */
  async #list(): Promise<readonly CachedFile[]> {
    const { dir, clock } = this.#options;
    const files: CachedFile[] = [];
    for (const name of await readdir(dir)) {
      const found = await stat(join(dir, name)).catch(() => undefined);
      if (found === undefined) continue;
      const file = { name, sizeBytes: found.size, usedMs: found.mtimeMs };
      if (isObsolete(file, clock.now())) await rm(join(dir, name), { force: true });
      else files.push(file);
    }
    return files;
  }
}
