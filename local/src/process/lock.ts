/**
 * A lock between processes: a file with the identity of its holder. When the holder has ended, exactly one of the waiting
 * processes acquires it.
 */
import { randomUUID } from "node:crypto";
import { link, mkdir, rename, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "@flotilla/shared/errors";
import * as z from "zod";
import { localErrors } from "../errors.ts";
import { readJson } from "../files/index.ts";
import { identityOf, isAlive, type ProcessIdentity } from "./identity.ts";

const pollMs = 100;

export interface LockOptions {
  /** Called once for each holder that this call waits for. */
  readonly onWait?: (holder: ProcessIdentity) => void;
  readonly signal?: AbortSignal;
}

const lockContent = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** Unique to each acquisition. */
  nonce: z.string(),
});
type LockContent = Readonly<z.infer<typeof lockContent>>;

/** Runs `work` while holding the lock. Waits as long as a running process holds it. */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const own = await acquire(path, options);
  try {
    return await work();
  } finally {
    if ((await readLock(path))?.nonce === own.nonce) await unlink(path);
  }
}

async function acquire(path: string, options: LockOptions): Promise<LockContent> {
  const identity = await identityOf(process.pid);
  if (identity === undefined)
    throw new AppError(
      localErrors.PROCESS_FAILED,
      `lock ${path}: cannot read the start time of this process`,
    );
  const own: LockContent = { ...identity, nonce: randomUUID() };
  await mkdir(dirname(path), { recursive: true });
  // Written to a temporary file and linked: the lock never exists without the identity of its holder.
  const claim = `${path}.${own.nonce}`;
  await writeFile(claim, JSON.stringify(own));
  try {
    let waitedFor: string | undefined;
    for (;;) {
      if (await linked(claim, path)) return own;
      const holder = await readLock(path);
      if (holder === undefined) continue;
      if (!(await isAlive(holder))) {
        if (await takeOver(path, holder, own, options)) return own;
        continue;
      }
      if (waitedFor !== holder.nonce) options.onWait?.(holder);
      waitedFor = holder.nonce;
      await sleep(
        pollMs,
        undefined,
        options.signal === undefined ? {} : { signal: options.signal },
      );
    }
  } finally {
    await unlink(claim).catch(() => undefined);
  }
}

/**
 * Acquires the lock of an ended holder, under a lock named after that holder, so that a process that has read the same
 * holder cannot remove the lock of the next one.
 */
function takeOver(
  path: string,
  ended: LockContent,
  own: LockContent,
  options: LockOptions,
): Promise<boolean> {
  return withLock(
    `${path}.after-${ended.nonce}`,
    async () => {
      if ((await readLock(path))?.nonce !== ended.nonce) return false;
      const claim = `${path}.${own.nonce}.next`;
      await writeFile(claim, JSON.stringify(own));
      await rename(claim, path);
      return true;
    },
    options,
  );
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return false;
    throw thrown;
  }
}

function readLock(path: string): Promise<LockContent | undefined> {
  return readJson(path, lockContent);
}
