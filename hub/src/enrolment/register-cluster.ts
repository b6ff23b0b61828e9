/** Finds or creates the Cluster of an authorized agent. */
import { isDeepStrictEqual } from "node:util";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import {
  agentKeyAnnotation,
  registrationTokenAnnotation,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names.ts";
import { apiVersion, clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import { commonErrors } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import {
  isAlreadyExists,
  isConflict,
  KubeStatusError,
} from "@flotilla/shared/kube/client/status-error.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { status } from "@grpc/grpc-js";
import { clientIdIndex, clientIdKey } from "../cache/enrolment-indexes.ts";
import { RpcError } from "../rpc/errors.ts";
import { type ClusterChoice, chooseCluster } from "./choose-cluster.ts";
import type { ClusterLabels } from "./cluster-labels.ts";
import { enrollErrors } from "./errors.ts";
import { rejectionFor } from "./rejections.ts";
import { rejectRemovedCluster } from "./removed-cluster.ts";
import type { TokenTerms } from "./token.ts";

export interface RegisterClusterDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly events: EventRecorder;
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
  readonly how: Exclude<ClusterChoice["kind"], "rejected">;
}

/** Two replicas or two requests may choose at the same time; the one with the conflict chooses again. */
const attempts = 5;

export async function registerCluster(
  deps: RegisterClusterDeps,
  applicant: EnrolmentApplicant,
): Promise<RegisteredCluster> {
  const { rest, clusters, events } = deps;
  const { namespace, clientId, fingerprint, token } = applicant;
  /** Read from the API server after a conflict, because the cache was stale. */
  const fresh = new Map<string, Cluster>();

  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const choice = chooseCluster({
      clientId,
      fingerprint,
      clusterName: applicant.clusterName,
      token,
      enrolled: enrolled(),
      named: (name) => fresh.get(name) ?? clusters.get(keyOf({ namespace, name })),
    });
    if (choice.kind === "rejected") {
      const { answer, note } = rejectionFor(choice.why, {
        cluster: choice.cluster,
        clientId,
        token,
      });
      if (note !== undefined)
        events.record(choice.cluster, {
          type: "Warning",
          reason: "EnrolmentRejected",
          action: "Enroll",
          note,
        });
      throw answer;
    }
    const cluster =
      choice.kind === "create"
        ? await create(choice.name)
        : await enrolAs(choice.cluster, choice.kind);
    if (cluster !== undefined) return { cluster, how: choice.kind };
  }
  throw new RpcError(
    status.UNAVAILABLE,
    commonErrors.INTERNAL,
    `cannot enrol client id ${clientId}: its Cluster kept changing (${attempts} conflicts); retry`,
  );

  function enrolled(): readonly Cluster[] {
    const byName = new Map<string, Cluster>();
    for (const known of clusters.byIndex(clientIdIndex, clientIdKey(namespace, clientId))) {
      byName.set(known.metadata.name, known);
    }
    for (const read of fresh.values()) byName.set(read.metadata.name, read);
    return [...byName.values()].filter(({ spec }) => spec.clientID === clientId);
  }

  async function create(name: string): Promise<Cluster | undefined> {
    if (token !== undefined) await rejectRemovedCluster(rest, { name, clientId, token });
    try {
      const created = await rest.create(clusterResource, {
        apiVersion,
        kind: clusterResource.kind,
        metadata: {
          name,
          namespace,
          labels: { ...applicant.labels.own, ...applicant.labels.fixed },
          annotations: ownAnnotations(),
        },
        spec: { clientID: clientId },
      });
      clusters.wrote(created);
      return created;
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw asAnswer(thrown);
    }
    await refresh(name);
    return undefined;
  }

  function ownAnnotations(): Readonly<Record<string, string>> {
    return {
      [agentKeyAnnotation]: fingerprint,
      ...(token !== undefined && { [registrationTokenAnnotation]: token.uid }),
    };
  }

  /**
   * Sets the one accepted key, by compare and swap: of two agents that take over at once, one chooses again. Repeating an
   * enrolment with the same key and token writes nothing.
   */
  async function enrolAs(
    cluster: Cluster,
    how: "same" | "adopt" | "take-over",
  ): Promise<Cluster | undefined> {
    const { name, resourceVersion, annotations = {}, labels: known = {} } = cluster.metadata;
    const own = ownAnnotations();
    const isNew = Object.entries(own).some(([key, value]) => annotations[key] !== value);
    if (!isNew && cluster.spec.clientID === clientId) return cluster;
    // Labels of an existing Cluster are set on the hub only.
    const requested = how === "adopt" ? applicant.labels.own : {};
    const labels = { ...requested, ...known, ...applicant.labels.fixed };
    try {
      const written = await rest.patch(
        clusterResource,
        { namespace, name },
        {
          type: "merge",
          body: {
            metadata: {
              ...(resourceVersion !== undefined && { resourceVersion }),
              annotations: { ...own, [revokedAtAnnotation]: null },
              ...(!isDeepStrictEqual(labels, known) && { labels }),
            },
            ...(cluster.spec.clientID !== clientId && { spec: { clientID: clientId } }),
          },
        },
      );
      clusters.wrote(written);
      return written;
    } catch (thrown) {
      if (!isConflict(thrown)) throw asAnswer(thrown);
    }
    await refresh(name);
    return undefined;
  }

  async function refresh(name: string): Promise<void> {
    const current = await rest.get(clusterResource, { namespace, name });
    if (current === undefined) fresh.delete(name);
    else fresh.set(name, current);
  }
}

/** A validation error of the API server about what the agent requested is shown to the agent. */
function asAnswer(thrown: unknown): unknown {
  if (!(thrown instanceof KubeStatusError) || thrown.retryable) return thrown;
  return new RpcError(status.INVALID_ARGUMENT, enrollErrors.ENROLMENT_INVALID, thrown.message, {
    cause: thrown,
  });
}
