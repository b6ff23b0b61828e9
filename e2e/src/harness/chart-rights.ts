/** Has a process of a test run with the rights that its chart gives, and no other. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { apiClient, writeKubeconfig } from "@flotilla/local/control-plane";
import { agentNamespace, hubNamespace } from "@flotilla/shared/api/names";
import { isAlreadyExists } from "@flotilla/shared/kube/client";
import { type KubeObject, namespaces, type Resource } from "@flotilla/shared/kube/objects";
import { parseAllDocuments, stringify } from "yaml";
import type { ClusterClient } from "./cluster-client.ts";
import type { PlaneAccess } from "./control-planes.ts";

const run = promisify(execFile);

/** The chart of a process: its namespace, and the name of its release and service account. */
export const charts = {
  hub: { chart: "flotilla", namespace: hubNamespace },
  agent: { chart: "flotilla-agent", namespace: agentNamespace },
} as const;

export type ChartName = keyof typeof charts;

/** The objects that grant rights. */
const plurals = {
  ServiceAccount: "serviceaccounts",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
} as const;

export interface RightsOptions {
  readonly plane: PlaneAccess;
  readonly client: ClusterClient;
  /** Path of the helm program. */
  readonly helm: string;
  /** Where the kubeconfig is written. */
  readonly dir: string;
  /** The values of the chart, as `--set` has them. */
  readonly values?: readonly string[];
}

/** Creates what the chart grants; returns the path of a kubeconfig with a token of its service account. */
export async function withChartRights(name: ChartName, options: RightsOptions): Promise<string> {
  const { chart, namespace } = charts[name];
  const { client, plane } = options;
  const objects = await rightsOf(name, options);
  await createUnlessExists(client, namespaces, { metadata: { name: namespace } });
  for (const object of objects) await createUnlessExists(client, resourceOf(object), object);
  const token = await requestToken(plane, namespace, chart);
  const path = join(options.dir, `${plane.name}-${name}.kubeconfig`);
  await writeKubeconfig(
    path,
    stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name,
          cluster: {
            server: plane.server,
            "certificate-authority-data": Buffer.from(plane.pki.ca).toString("base64"),
          },
        },
      ],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      "current-context": name,
    }),
  );
  return path;
}

/** Throws when a request of hub or agent was refused: its chart lacks a right that a retry may have hidden from the test. */
export async function assertRightsSuffice(logFiles: readonly string[]): Promise<void> {
  for (const file of logFiles) {
    const log = await readFile(file, "utf8");
    const refused =
      /service account (flotilla-system\/flotilla|flotilla-agent\/flotilla-agent) may not [^\n]*/.exec(
        log,
      );
    if (refused !== null) throw new Error(`a chart lacks a right: ${refused[0]}`);
  }
}

/** The path of a chart of ours. */
export function chartDir(chart: string): string {
  return fileURLToPath(new URL(`../../../charts/${chart}`, import.meta.url));
}

/** What each chart renders with each set of values: the same in all files of a process. */
const rendered = new Map<string, Promise<string>>();

async function rightsOf(
  name: ChartName,
  { helm, values = [] }: Pick<RightsOptions, "helm" | "values">,
): Promise<readonly KubeObject[]> {
  const { chart, namespace } = charts[name];
  const args = ["template", chart, chartDir(chart), `--namespace=${namespace}`];
  args.push(...values.map((value) => `--set=${value}`));
  const key = args.join("\n");
  const text = rendered.get(key) ?? render(helm, args);
  rendered.set(key, text);
  return parseAllDocuments(await text).map((document) => document.toJS() as KubeObject);
}

async function render(helm: string, args: readonly string[]): Promise<string> {
  return (await run(helm, [...args, "--show-only=templates/rbac.yaml"])).stdout;
}

function resourceOf({ apiVersion = "", kind = "" }: KubeObject): Resource<KubeObject> {
  const plural = Object.entries(plurals).find(([known]) => known === kind)?.[1];
  if (plural === undefined) throw new Error(`${kind} grants no rights`);
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return { group, version, kind, plural, namespaced: !kind.startsWith("Cluster") };
}

async function createUnlessExists(
  client: ClusterClient,
  resource: Resource<KubeObject>,
  object: KubeObject,
): Promise<void> {
  try {
    await client.create(resource, object);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
}

async function requestToken(plane: PlaneAccess, namespace: string, name: string): Promise<string> {
  const { ca, clients } = plane.pki;
  const api = apiClient(plane.server, { ca, client: clients.admin });
  try {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const { status, body } = await api.call("POST", path, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    });
    if (status !== 201) throw new Error(`POST ${path}: HTTP status ${status}: ${body}`);
    return (JSON.parse(body) as { readonly status: { readonly token: string } }).status.token;
  } finally {
    await api.close();
  }
}
