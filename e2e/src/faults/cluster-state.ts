/** What is really in a cluster: Helm's own records, what charts and hooks have made, and processes that are left. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { releaseLabels } from "@flotilla/agent/helm";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import type { TestFleet } from "../harness/fleet.ts";
import type { Revision, Trace } from "./audit-release.ts";
import { traceLabel } from "./hooked-chart.ts";

/** A release that is in a namespace of its own name. */
export async function revisionsIn(rest: KubeRest, name: string): Promise<readonly Revision[]> {
  const { items } = await rest.list(secrets, {
    namespace: name,
    labelSelector: `owner=helm,name=${name}`,
  });
  return items.map(({ metadata: { labels = {} } }) => ({
    revision: Number(labels["version"]),
    status: labels["status"] ?? "",
    digest: labels[releaseLabels.digest] ?? "",
  }));
}

export async function tracesIn(rest: KubeRest, name: string): Promise<readonly Trace[]> {
  const { items } = await rest.list(configMaps, {
    namespace: name,
    labelSelector: `${traceLabel}=${name}`,
  });
  return items.map(({ data }) => ({ revision: Number(data?.["revision"]) }));
}

/** `version serial` of what is installed. */
export async function installedIn(rest: KubeRest, name: string): Promise<string> {
  const found = await rest.get(configMaps, { namespace: name, name: `${name}-config` });
  return `${found?.data?.["version"]} ${found?.data?.["serial"]}`;
}

/** Processes of Helm that work for this fleet. Where there is no /proc, none are found. */
export async function helmProcesses(fleet: TestFleet): Promise<readonly string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // It may end meanwhile, or be somebody else's.
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
