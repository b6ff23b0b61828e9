/**
 * A lock between processes: a file that names its holder. A holder that died is recognised at once, because the file
 * has its pid and start time, and is replaced by exactly one of those who notice.
 */
import { randomUUID } from "node:crypto";
import { link, mkdir, rename, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { z } from "zod";
import { localErrors } from "../errors.ts";
import { readJson } from "../files/atomic-file.ts";
import { identityOf, isAlive, type ProcessIdentity } from "./identity.ts";

const pollMs = 100;

export interface LockOptions {
  /** Called once for each holder that has to be waited for. */
  readonly onWait?: (holder: ProcessIdentity) => void;
  readonly signal?: AbortSignal;
}

const lockContent = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** Tells one taking of the lock from the next one by the same process. */
  nonce: z.string(),
});
type LockContent = Readonly<z.infer<typeof lockContent>>;

/** Runs `work` while holding the lock; waits for as long as a living process holds it. */
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
    throw new AppError(localErrors.PROCESS_FAILED, `lock ${path}: this process has no start time`);
  const own: LockContent = { ...identity, nonce: randomUUID() };
  await mkdir(dirname(path), { recursive: true });
  // Written beside it and linked: the lock never exists without its holder's name in it.
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
 * Replaces a dead holder. Under a lock named after that holder, so that nobody who saw the same dead holder can remove
 * the lock of the one who replaced it.
 */
function takeOver(
  path: string,
  dead: LockContent,
  own: LockContent,
  options: LockOptions,
): Promise<boolean> {
  return withLock(
    `${path}.after-${dead.nonce}`,
    async () => {
      if ((await readLock(path))?.nonce !== dead.nonce) return false;
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
