/** The state of a cluster and of the fleet's machine: releases, traces of hooks, processes of Helm, logs. */

import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { releaseLabels } from "@flotilla/agent/helm";
import { configMaps } from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "../harness/cluster-client.ts";
import type { TestFleet } from "../harness/fleet.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import type { Revision, Trace } from "./audit-release.ts";
import { traceLabel } from "./hooked-chart.ts";

/** The revisions of a release in a namespace of its own name. */
export async function revisionsIn(
  client: ClusterClient,
  name: string,
): Promise<readonly Revision[]> {
  return (await releaseRecords(client, name, name)).map(({ revision, status, labels }) => ({
    revision,
    status,
    digest: labels[releaseLabels.digest] ?? "",
  }));
}

export async function tracesIn(client: ClusterClient, name: string): Promise<readonly Trace[]> {
  const items = await client.reader.list(configMaps, {
    namespace: name,
    labelSelector: `${traceLabel}=${name}`,
  });
  return items.map(({ data }) => ({ revision: Number(data?.["revision"]) }));
}

/** `version serial` of what is installed. */
export async function installedIn(client: ClusterClient, name: string): Promise<string> {
  const found = await installedConfig(client, name);
  return `${found?.data?.["version"]} ${found?.data?.["serial"]}`;
}

/** Processes of Helm of this fleet; none without /proc. */
export async function helmProcesses(fleet: TestFleet): Promise<readonly string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // It may have ended, or belong to another user.
      const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return program === fleet.helm && environment.includes(fleet.dir) ? pid : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

/** Lines of the fleet's logs that have one of these words. */
export async function linesWith(fleet: TestFleet, words: readonly string[]): Promise<string[]> {
  const dir = join(fleet.dir, "logs");
  const files = await readdir(dir);
  const found = await Promise.all(
    files.map(async (file) =>
      (await readFile(join(dir, file), "utf8"))
        .split("\n")
        .filter((line) => words.some((word) => line.includes(word)))
        .map((line) => `${file}: ${line}`),
    ),
  );
  return found.flat();
}
