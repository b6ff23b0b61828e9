/** A release with two CustomResourceDefinitions, in Helm's storage and on the API server in memory. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import {
  customResourceDefinitions,
  type KubeObject,
  type Secret,
  secrets,
} from "@flotilla/shared/kube/objects";
import {
  conflict,
  createMemoryApiServer,
  type MemoryApiServer,
} from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import type { ImpersonatedClient } from "../../../base/impersonation/impersonated-clients.ts";
import { createInventory } from "../../../state/inventory/create-inventory.ts";
import { type ReleaseKey, type ReleaseRecord, recordSecretName } from "../../cli/release-record.ts";
import { createStoredReleases } from "../../cli/stored-releases.ts";
import { withKeptCrds } from "../../record/crd-documents.ts";
import { readYamlDocument } from "../../record/manifest.ts";
import { readRecordsHere } from "../../record/testing/index.ts";
import { type CrdPolicy, type CrdRetention, createCrdRetention } from "../crd-retention.ts";
import { crdFieldManager } from "../live-crd.ts";

const policyName = "helm.sh/resource-policy";
/** What keeps a definition. */
export const keepAnnotations = { [policyName]: "keep" };
export const ownerOf = ({ namespace, name }: ReleaseKey) => ({
  "meta.helm.sh/release-name": name,
  "meta.helm.sh/release-namespace": namespace,
});
export const release = { namespace: "shop", name: "app" };

/** `bikes` has a policy of the chart's own. */
const plain = `---
# Source: app/templates/cars.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: cars.example.com
---
# Source: app/templates/bikes.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: bikes.example.com
  annotations:
    helm.sh/resource-policy: keep
`;
const kept = withKeptCrds(plain, readYamlDocument);
const withoutCrds = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n";
/** Its name can be read, and the rest cannot. */
const broken = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cars.example.com}
spec: {
`;

/** In Helm's storage; `unreadable`: what is stored is not a release. */
const manifests = { plain, kept, "without definitions": withoutCrds, broken, unreadable: "" };
type StoredAs = keyof typeof manifests;

export interface CrdClusterOptions {
  readonly stored?: StoredAs;
  /** The agent has set its policy on `cars` in the cluster. */
  readonly isAnnotated?: boolean;
  /** Definitions that the release contains, and the cluster does not. */
  readonly deleted?: readonly string[];
  /** The requests that fail with 403, as `patch customresourcedefinitions cars.example.com`. */
  readonly forbidden?: readonly string[];
  /** The request that fails with 409. */
  readonly conflicting?: string;
}

interface CrdCluster {
  readonly server: MemoryApiServer;
  readonly retention: CrdRetention;
  readonly history: readonly ReleaseRecord[];
  policy(keep: boolean): CrdPolicy;
  /** Stores another revision. */
  install(revision: number, stored: StoredAs, status: string): ReleaseRecord;
  /** Removes all revisions. */
  uninstall(): void;
  /** All annotations of the agent's field manager, by the definitions that were patched. */
  readonly applied: Readonly<Record<string, object>>;
  /** The manifest of the first revision, if it was written. */
  written(): Promise<StoredAs | undefined>;
}

function secretOf(as: StoredAs, revision: number, status: string): Secret {
  const { namespace, name } = release;
  const json = { namespace, name, version: revision, info: { status }, manifest: manifests[as] };
  const packed = gzipSync(JSON.stringify(json)).toString("base64");
  const labels = { owner: "helm", name, version: String(revision), status };
  return {
    metadata: { namespace, name: recordSecretName({ name, revision }), labels },
    data: { release: as === "unreadable" ? "" : Buffer.from(packed).toString("base64") },
  };
}

function crdOf(name: string, isAnnotated: boolean): KubeObject {
  const isCars = name === "cars.example.com";
  const ours = { "f:metadata": { "f:annotations": { [`f:${policyName}`]: {} } } };
  const metadata = {
    ...{ name, uid: `uid-${name}` },
    annotations: { ...ownerOf(release), ...((isAnnotated || !isCars) && keepAnnotations) },
    ...(isAnnotated && isCars && { managedFields: [{ manager: crdFieldManager, fieldsV1: ours }] }),
  };
  return { metadata };
}

export function createCrdCluster(options: CrdClusterOptions = {}): CrdCluster {
  const { stored = "plain", isAnnotated = false, deleted = [], forbidden = [] } = options;
  const server = createMemoryApiServer();
  const history: ReleaseRecord[] = [];
  function install(revision: number, as: StoredAs, status: string): ReleaseRecord {
    server.put(secrets, secretOf(as, revision, status));
    const record = { ...{ ...release, revision, status }, ...{ isOwn: true, modifiedAtMs: 0 } };
    history.push(record);
    return record;
  }
  install(1, stored, "deployed");
  for (const name of ["cars.example.com", "bikes.example.com"])
    if (!deleted.includes(name))
      server.put<KubeObject>(customResourceDefinitions, crdOf(name, isAnnotated));
  const fail = (request: string): void => {
    if (forbidden.includes(request))
      throw new KubeStatusError("not allowed", { status: 403, reason: "Forbidden" });
    if (options.conflicting === request) throw conflict();
  };
  server.beforeWrite = fail;
  server.beforeRead = (read) => fail(`get ${read}`);

  const applied: Record<string, object> = {};
  const rest: MemoryApiServer = {
    ...server,
    async patch(resource, ref, patch, request) {
      const result = await server.patch(resource, ref, patch, request);
      assert.equal(request?.fieldManager, crdFieldManager);
      const { metadata } = patch.body as KubeObject;
      assert.equal(metadata.uid, `uid-${ref.name}`);
      applied[ref.name] = metadata.annotations ?? {};
      return result;
    },
  };
  const client: ImpersonatedClient = {
    ...{ subject: "service account shop/deployer", isAgent: false, rest, helmArgs: [] },
    watch: { subject: "the agent", rest, isPerNamespace: false },
  };
  const log = silentLog();
  const releases = {
    ...{ reader: () => server, history: () => history },
    ...{ ran: () => undefined, removed: () => undefined },
  };
  const { inventory } = createInventory({ rest: server, log });
  const records = readRecordsHere;
  const storedReleases = createStoredReleases({ releases, records, inventory, log });
  const first = recordSecretName({ name: release.name, revision: 1 });
  return {
    ...{ server, history, install, applied },
    retention: createCrdRetention({ stored: storedReleases, records, releases, log }),
    policy: (keep) => ({ keep, client, signal: new AbortController().signal }),
    uninstall() {
      history.length = 0;
    },
    async written() {
      const ref = { namespace: release.namespace, name: first };
      const value = server.peek(secrets, ref)?.data?.["release"] ?? "";
      if (value === secretOf(stored, 1, "deployed").data?.["release"]) return undefined;
      const { manifest } = await records.stored(value, "it");
      return (["plain", "kept"] as const).find((as) => manifests[as] === manifest);
    },
  };
}
