/** Reads the version of the cluster's Kubernetes, which the agent sends to the hub. Nothing depends on it. */
import { messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import * as z from "zod";

/** A connection does not wait longer for it. */
const timeoutMs = 2_000;

const versionSchema = z.looseObject({ gitVersion: z.string().max(64) });

interface VersionDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads it for each connection, since Kubernetes is upgraded meanwhile. Undefined: the API server has not said it yet. Never rejects. */
export function createVersionReader(
  rest: Pick<KubeRest, "raw">,
  deps: VersionDeps,
): (signal: AbortSignal) => Promise<string | undefined> {
  let last: string | undefined;
  return async (signal) => {
    last = (await readVersion(rest, deps, signal)) ?? last;
    return last;
  };
}

async function readVersion(
  rest: Pick<KubeRest, "raw">,
  { clock, log }: VersionDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const late = new AbortController();
  const timer = clock.setTimeout(() => late.abort(), timeoutMs);
  try {
    const body = await rest.raw("/version", { signal: AbortSignal.any([signal, late.signal]) });
    const { gitVersion } = versionSchema.parse(JSON.parse(body));
    return gitVersion === "" ? undefined : gitVersion;
  } catch (thrown) {
    log.debug({ err: messageOf(thrown) }, "version of Kubernetes not read");
    return undefined;
  } finally {
    timer.cancel();
  }
}
