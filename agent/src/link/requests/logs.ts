/** Logs of the pods of a release. The kubelet has them; they are read through the API server, one container after the other. */
import { type LogOptions, wireLimits } from "@flotilla/proto";
import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { agentErrors } from "../../base/errors/index.ts";
import type { AnswerSink } from "./open-requests.ts";
import { type Pod, type PodsDeps, podsOf } from "./pods-of-release.ts";
import {
  findNewest,
  noRecord,
  type RequestedRelease,
  type StoredDeps,
} from "./requested-release.ts";

/**
 * Each line begins with `[POD/CONTAINER]`. A container whose log cannot be read has a line with the error. Throws REQUEST_FAILED
 * if there is no container, or if no log at all can be read.
 */
export async function writeLogs(
  deps: StoredDeps & PodsDeps,
  release: RequestedRelease,
  options: LogOptions,
  { write, signal }: AnswerSink,
): Promise<void> {
  const stored = await findNewest(deps, release, signal);
  if (stored === undefined && release.attempt === undefined) throw noRecord(deps, release);
  const containers = (await podsOf(deps, release, stored, options, signal)).flatMap((pod) =>
    containersOf(pod, options.container).map((container) => ({ pod, container })),
  );
  if (containers.length === 0)
    throw new AppError(
      agentErrors.REQUEST_FAILED,
      `no pod of release ${release.namespace}/${release.name} has a container ${options.container ?? ""}`,
    );
  const unreadable: string[] = [];
  let hasRead = false;
  for (const { pod, container } of containers) {
    const prefix = `[${pod.metadata.name}/${container}] `;
    try {
      const text = await release.rest.raw(logPath(pod, container, options), { signal });
      hasRead = true;
      await write(prefixed(text, prefix));
    } catch (thrown) {
      if (!(thrown instanceof KubeStatusError)) throw thrown;
      unreadable.push(`${prefix}cannot read the log: ${thrown.serverMessage}\n`);
    }
  }
  if (!hasRead) throw new AppError(agentErrors.REQUEST_FAILED, unreadable.join("").trim());
  for (const text of unreadable) await write(text);
}

/** Pure. */
export function containersOf({ spec }: Pod, only: string | undefined): readonly string[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
    .map(({ name }) => name)
    .filter((name) => only === undefined || name === only);
}

/** Pure. */
export function logPath(
  { metadata }: Pod,
  container: string,
  { tailLines, sinceSeconds, previous }: LogOptions,
): string {
  const query = new URLSearchParams({
    container,
    tailLines: String(tailLines),
    limitBytes: String(wireLimits.answerBytes),
    ...(sinceSeconds !== undefined && { sinceSeconds: String(sinceSeconds) }),
    ...(previous && { previous: "true" }),
  });
  const namespace = encodeURIComponent(metadata.namespace ?? "");
  const pod = encodeURIComponent(metadata.name);
  return `/api/v1/namespaces/${namespace}/pods/${pod}/log?${query.toString()}`;
}

/** Pure. */
export function prefixed(text: string, prefix: string): string {
  if (text === "") return "";
  const lines = text.endsWith("\n") ? text.slice(0, -1) : text;
  return `${lines
    .split("\n")
    .map((line) => `${prefix}${line}\n`)
    .join("")}`;
}
