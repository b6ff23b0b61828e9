/** Finds or creates the Cluster of an authorized agent. */

import { isDeepStrictEqual } from "node:util";
import { apiVersion, type Cluster, clusters as clusterResource } from "@flotilla/shared/api";
import {
  agentKeyAnnotation,
  registrationTokenAnnotation,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names";
import { commonErrors } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import {
  isAlreadyExists,
  isConflict,
  type KubeRest,
  KubeStatusError,
} from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { status } from "@grpc/grpc-js";
import { clientIdIndex, clientIdKey, hubErrors } from "../../base/index.ts";
import { RpcError } from "../rpc/errors.ts";
import { type ClusterChoice, chooseCluster } from "./choose-cluster.ts";
import type { ClusterLabels } from "./cluster-labels.ts";
import { nameRejected, rejectionFor } from "./rejections.ts";
import { rejectRemovedCluster } from "./removed-cluster.ts";
import type { TokenTerms } from "./token.ts";

export interface RegisterClusterDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly events: EventRecorder;
  /** Whether a target of a HelmOp or Bundle names the Cluster with this key. */
  readonly isAwaited: (cluster: ObjectKey) => boolean;
}

export interface EnrolmentApplicant {
  readonly namespace: string;
  readonly clientId: string;
  readonly fingerprint: string;
  readonly clusterName: string | undefined;
  readonly labels: ClusterLabels;
  /** `undefined` where the key alone authorizes the enrolment. */
  readonly token: TokenTerms | undefined;
}

export interface RegisteredCluster {
  readonly cluster: Cluster;
  readonly how: Exclude<ClusterChoice["kind"], "rejected" | "name-rejected">;
  /** Why it has not the name that the agent requested. */
  readonly instead?: "taken" | "awaited";
}

/** Two replicas or two requests may choose at the same time; the one with the conflict chooses again. */
const attempts = 5;

/** One registration: what it needs, and what it has read. */
interface Attempt {
  readonly deps: RegisterClusterDeps;
  readonly applicant: EnrolmentApplicant;
  /** By name; read from the API server after a conflict, because the cache was stale. */
  readonly fresh: Map<string, Cluster>;
}

/** Throws an RpcError when the enrolment is rejected, or after too many conflicts. */
export async function registerCluster(
  deps: RegisterClusterDeps,
  applicant: EnrolmentApplicant,
): Promise<RegisteredCluster> {
  const { clusters } = deps;
  const { namespace, clientId, fingerprint, clusterName, token } = applicant;
  const attempt: Attempt = { deps, applicant, fresh: new Map() };

  for (let count = 0; count < attempts; count += 1) {
    const choice = chooseCluster({
      clientId,
      fingerprint,
      clusterName,
      token,
      enrolled: enrolledClusters(attempt),
      named: (name) => attempt.fresh.get(name) ?? clusters.get(keyOf({ namespace, name })),
      isAwaited: (name) => deps.isAwaited(keyOf({ namespace, name })),
    });
    if (choice.kind === "rejected") throw reject(attempt, choice);
    if (choice.kind === "name-rejected") throw nameRejected(choice.name, token);
    const cluster =
      choice.kind === "create"
        ? await create(attempt, choice.name)
        : await update(attempt, choice.cluster, choice.kind);
    const instead = choice.kind === "create" ? choice.instead : undefined;
    if (cluster !== undefined)
      return { cluster, how: choice.kind, ...(instead !== undefined && { instead }) };
  }
  throw new RpcError(
    status.UNAVAILABLE,
    commonErrors.INTERNAL,
    `cannot enrol client id ${clientId}: its Cluster kept changing (${attempts} conflicts); retry`,
  );
}

function enrolledClusters({ deps, applicant, fresh }: Attempt): readonly Cluster[] {
  const { namespace, clientId } = applicant;
  const byName = new Map<string, Cluster>();
  for (const cached of deps.clusters.byIndex(clientIdIndex, clientIdKey(namespace, clientId)))
    byName.set(cached.metadata.name, cached);
  for (const read of fresh.values()) byName.set(read.metadata.name, read);
  return [...byName.values()].filter(({ spec }) => spec.clientID === clientId);
}

function reject(
  { deps, applicant: { clientId, token } }: Attempt,
  { cluster, why }: Extract<ClusterChoice, { kind: "rejected" }>,
): RpcError {
  const { answer, note } = rejectionFor(why, { cluster, clientId, token });
  const [type, reason, action] = ["Warning", "EnrolmentRejected", "Enroll"] as const;
  if (note !== undefined) deps.events.record(cluster, { type, reason, action, note });
  return answer;
}

/** `undefined` after a conflict. */
async function create(attempt: Attempt, name: string): Promise<Cluster | undefined> {
  const { rest, clusters } = attempt.deps;
  const { namespace, clientId, labels, token } = attempt.applicant;
  if (token !== undefined) await rejectRemovedCluster(rest, { name, clientId, token });
  try {
    const created = await rest.create(clusterResource, {
      apiVersion,
      kind: clusterResource.kind,
      metadata: {
        name,
        namespace,
        labels: { ...labels.own, ...labels.fixed },
        annotations: enrolmentAnnotations(attempt.applicant),
      },
      spec: { clientID: clientId },
    });
    clusters.wrote(created);
    return created;
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw asAnswer(thrown);
  }
  await refresh(attempt, name);
  return undefined;
}

/**
 * Sets the one accepted key, by compare and swap: of two agents that take over at once, one chooses again. Repeating an
 * enrolment with the same key and token writes nothing. `undefined` after a conflict.
 */
async function update(
  attempt: Attempt,
  cluster: Cluster,
  how: "same" | "adopt" | "take-over",
): Promise<Cluster | undefined> {
  const { rest, clusters } = attempt.deps;
  const { namespace, clientId, labels: requested } = attempt.applicant;
  const { name, resourceVersion, annotations = {}, labels: current = {} } = cluster.metadata;
  const own = enrolmentAnnotations(attempt.applicant);
  const isNew = Object.entries(own).some(([key, value]) => annotations[key] !== value);
  if (!isNew && cluster.spec.clientID === clientId) return cluster;
  // Labels of an existing Cluster are set on the hub only.
  const adopted = how === "adopt" ? requested.own : {};
  const labels = { ...adopted, ...current, ...requested.fixed };
  const body = {
    metadata: {
      ...(resourceVersion !== undefined && { resourceVersion }),
      annotations: { ...own, [revokedAtAnnotation]: null },
      ...(!isDeepStrictEqual(labels, current) && { labels }),
    },
    ...(cluster.spec.clientID !== clientId && { spec: { clientID: clientId } }),
  };
  try {
    const written = await rest.patch(clusterResource, { namespace, name }, { type: "merge", body });
    clusters.wrote(written);
    return written;
  } catch (thrown) {
    if (!isConflict(thrown)) throw asAnswer(thrown);
  }
  await refresh(attempt, name);
  return undefined;
}

async function refresh({ deps, applicant, fresh }: Attempt, name: string): Promise<void> {
  const current = await deps.rest.get(clusterResource, { namespace: applicant.namespace, name });
  if (current === undefined) fresh.delete(name);
  else fresh.set(name, current);
}

function enrolmentAnnotations({
  fingerprint,
  token,
}: EnrolmentApplicant): Readonly<Record<string, string>> {
  return {
    [agentKeyAnnotation]: fingerprint,
    ...(token !== undefined && { [registrationTokenAnnotation]: token.uid }),
  };
}

/** A validation error of the API server about what the agent requested is shown to the agent. */
function asAnswer(thrown: unknown): unknown {
  if (!(thrown instanceof KubeStatusError) || thrown.retryable) return thrown;
  return new RpcError(status.INVALID_ARGUMENT, hubErrors.ENROLMENT_INVALID, thrown.message, {
    cause: thrown,
  });
}
