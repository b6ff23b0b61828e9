/** Answers to requests on an API server in memory, and a release of which they are. */
import { gzipSync } from "node:zlib";
import type { RequestBody } from "@flotilla/proto";
import {
  configMaps,
  deployments,
  type KubeObject,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { formatYaml } from "@flotilla/shared/yaml";
import { type ReleaseRecord, recordSecretName } from "../../../helm/cli/release-record.ts";
import { contentDigest } from "../../../helm/record/stored-release.ts";
import { readRecordsHere } from "../../../helm/record/testing/index.ts";
import type { InventoryAttempt } from "../../../state/inventory/inventory-secret.ts";
import { createAnswers } from "../answers.ts";
import { logPath } from "../logs.ts";
import type { Pod } from "../pods-of-release.ts";

export const owner = { name: "web", uid: "1" };
export const log: Extract<RequestBody, { kind: "log" }> = {
  ...{ kind: "log", tailLines: 10, previous: false, tests: false },
};
const resources: Readonly<Record<string, Resource<KubeObject>>> = {
  ConfigMap: configMaps,
  Deployment: deployments,
  get Job() {
    return jobs;
  },
  get Pod() {
    return pods;
  },
};
export const pods: Resource<KubeObject> = {
  ...{ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
};
export const config = {
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web" }, data: { a: "1" } },
};
export const workload = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
  spec: { selector: { matchLabels: { app: "web" } } },
};
export const hookOf = (kind: string, name: string, event: string, phase = "") => ({
  ...{ name, kind, events: [event], last_run: { phase } },
  manifest: `apiVersion: ${kind === "Job" ? "batch/v1" : "v1"}\nkind: ${kind}\nmetadata: {name: ${name}}\n`,
});
export const testHook = (name: string, phase?: string) => hookOf("Pod", name, "test", phase);
export const jobs: Resource<KubeObject> = {
  ...{ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true },
};

export interface Revision {
  readonly manifest?: readonly object[];
  readonly hooks?: readonly object[];
  readonly description?: string;
  /** Default: `deployed`. */
  readonly status?: string;
  /** Somebody else has written the record. */
  readonly isForeign?: boolean;
  /** The run that creates it has not ended. */
  readonly isRunning?: boolean;
}

/** The releases of each deployment. */
const idsOf: Readonly<Record<string, readonly string[]>> = {
  web: ["web"],
  several: ["several/shop/web", "several/market/web"],
};

/** The answers for a deployment of which Helm has these revisions, the oldest first. */
export function setUp(...revisions: readonly Revision[]) {
  return setUpAttempt(undefined, ...revisions);
}

/** With an attempt that the inventory has, too. */
export function setUpAttempt(
  attempt: InventoryAttempt | undefined,
  ...revisions: readonly Revision[]
) {
  const rest = createMemoryApiServer();
  const records: Partial<ReleaseRecord>[] = [];
  const installed = new Map<number, string>();
  for (const [index, each] of revisions.entries()) {
    const {
      manifest = [],
      hooks = [],
      description = "Done",
      status = "deployed",
      isForeign = false,
      isRunning = false,
    } = each;
    const revision = index + 1;
    const release = {
      ...{ name: "web", namespace: "shop", version: revision, hooks },
      manifest: manifest.map((object) => `---\n${formatYaml(object)}`).join(""),
      info: { status, description, last_deployed: "2026-01-01T00:00:00Z" },
      chart: { metadata: { name: "web", version: `1.${index}.0`, appVersion: "7" } },
    };
    const stored = btoa(gzipSync(JSON.stringify(release)).toString("base64"));
    const name = recordSecretName({ name: "web", revision });
    rest.put(secrets, { metadata: { namespace: "shop", name }, data: { release: stored } });
    records.push({ namespace: "shop", name: "web", revision });
    if (!isForeign && !isRunning)
      installed.set(revision, contentDigest(release.manifest, JSON.parse(JSON.stringify(hooks))));
  }
  const accounts: (string | undefined)[] = [];
  const answer = createAnswers({
    // Withdrawn and lost: its account is known from the inventory.
    assigned: {
      of: (name) =>
        (idsOf[name] ?? []).map((id) => ({
          ...{ owner: { id, name, uid: "1" }, deploymentId: "id", content: new Uint8Array() },
          ...{ paused: false, withdrawing: false },
        })),
    },
    attempts: { attemptOf: () => attempt },
    inventory: {
      revisionOf: (_, revision) => {
        const content = installed.get(revision);
        return content === undefined ? undefined : { revision, content };
      },
      knows: ({ uid }) => uid === "1",
      releasesOf: () =>
        revisions.length === 0 || revisions.every(({ isRunning }) => isRunning === true)
          ? []
          : [
              {
                ...{ namespace: "shop", name: "web", uid: "1", deploymentId: "id" },
                revisions: [{ revision: 1, content: "c", notes: { replaced: ["Job shop/once"] } }],
                ...{ serviceAccount: "tenant", keepResources: false, deleteCRDResources: false },
              },
            ],
    },
    clients: {
      clientFor(account) {
        accounts.push(account);
        return Promise.resolve({
          ...{ subject: "service account a/tenant", isAgent: false, rest, helmArgs: [] },
          watch: { subject: "the agent", rest, isPerNamespace: false },
        });
      },
    },
    releases: { history: () => records as ReleaseRecord[] },
    records: readRecordsHere,
    plan: () => Promise.reject(new Error("not expected")),
    inputs: { layers: () => Promise.reject(new Error("not expected")) },
    findResource: (_, kind) => Promise.resolve(resources[kind] ?? "the cluster does not have it"),
  });
  async function ask(body: RequestBody, deployment = owner): Promise<string> {
    const parts: string[] = [];
    const { signal } = new AbortController();
    const write = (part: string) => Promise.resolve(void parts.push(part));
    await answer({ deployment, body }, { write, signal });
    return parts.join("");
  }
  function pod(name: string, containers: readonly string[], namespace = "shop"): Pod {
    const spec = { containers: containers.map((each) => ({ name: each })) };
    const labels = { app: "web" };
    return rest.put(pods, { metadata: { namespace, name, labels }, spec } as KubeObject);
  }
  function logOf(of: Pod, container: string, text: string): void {
    rest.rawResponses.set(logPath(of, container, log), text);
  }
  return { rest, ask, pod, logOf, accounts };
}
