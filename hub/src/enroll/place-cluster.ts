/** Finds or makes the Cluster of an agent whose token and key were checked. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { apiVersion, clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import { commonErrors } from "@flotilla/shared/errors/app-error.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events.ts";
import { keyOf } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import {
  isAlreadyExists,
  isConflict,
  KubeStatusError,
} from "@flotilla/shared/kube/status-error.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import { status } from "@grpc/grpc-js";
import { RpcError } from "../serve/errors.ts";
import { agentKeyAnnotation, chooseCluster } from "./choose-cluster.ts";
import { enrollErrors } from "./errors.ts";
import { clientIdIndex, clientIdKey } from "./indexes.ts";

export interface PlaceClusterDeps {
  readonly rest: KubeRest;
  /** With the indexes of `clusterIndexers`. */
  readonly clusters: Store<Cluster>;
  readonly events: EventRecorder;
}

export interface Applicant {
  readonly namespace: string;
  readonly clientId: string;
  readonly fingerprint: string;
  readonly clusterName: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** Two replicas or two requests may choose at the same time; the one that loses looks again. */
const attempts = 5;

export async function placeCluster(deps: PlaceClusterDeps, applicant: Applicant): Promise<Cluster> {
  const { rest, clusters, events } = deps;
  const { namespace, clientId, fingerprint } = applicant;
  /** What was read from the API server because the cache did not know it yet. */
  const fresh = new Map<string, Cluster>();

  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const choice = chooseCluster({
      clientId,
      fingerprint,
      clusterName: applicant.clusterName,
      enrolled: enrolled(),
      isTaken: (name) => fresh.has(name) || clusters.get(keyOf({ namespace, name })) !== undefined,
    });
    switch (choice.kind) {
      case "same":
        return choice.cluster;
      case "other-key": {
        const note = `an agent with client id ${clientId} asked to be enrolled with another key than the one that this cluster is enrolled with, and was refused`;
        events.record(choice.cluster, {
          type: "Warning",
          reason: "EnrolmentRefused",
          action: "Enroll",
          note,
        });
        throw new RpcError(
          status.PERMISSION_DENIED,
          enrollErrors.ENROLMENT_REFUSED,
          `client id ${clientId} is enrolled as Cluster ${keyOf(choice.cluster)} with another key; if this is that cluster and its key is lost, delete the Cluster on the hub first, else give this cluster a clientID of its own in its bootstrap Secret`,
        );
      }
      case "going":
        throw new RpcError(
          status.UNAVAILABLE,
          enrollErrors.ENROLMENT_REFUSED,
          `Cluster ${keyOf(choice.cluster)} of client id ${clientId} is being deleted; it can be enrolled anew once that is done`,
        );
      case "adopt": {
        const adopted = await adopt(choice.cluster);
        if (adopted !== undefined) return adopted;
        break;
      }
      case "create": {
        const created = await create(choice.name);
        if (created !== undefined) return created;
        break;
      }
    }
  }
  throw new RpcError(
    status.UNAVAILABLE,
    commonErrors.INTERNAL,
    `the Cluster of client id ${clientId} kept changing while it was enrolled; try again`,
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
    try {
      const created = await rest.create(clusterResource, {
        apiVersion,
        kind: clusterResource.kind,
        metadata: {
          name,
          namespace,
          labels: applicant.labels,
          annotations: { [agentKeyAnnotation]: fingerprint },
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

  /** Somebody may have made it for this client id in advance: from now on only this key is it. */
  async function adopt(cluster: Cluster): Promise<Cluster | undefined> {
    const { name, resourceVersion } = cluster.metadata;
    try {
      const adopted = await rest.patch(
        clusterResource,
        { namespace, name },
        {
          type: "merge",
          body: {
            metadata: {
              ...(resourceVersion !== undefined && { resourceVersion }),
              annotations: { [agentKeyAnnotation]: fingerprint },
              labels: { ...applicant.labels, ...cluster.metadata.labels },
            },
          },
        },
      );
      clusters.wrote(adopted);
      return adopted;
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

/** What the API server refuses because of what the agent asked for is the agent's to know. */
function asAnswer(thrown: unknown): unknown {
  if (!(thrown instanceof KubeStatusError) || thrown.retryable) return thrown;
  return new RpcError(status.INVALID_ARGUMENT, enrollErrors.ENROLMENT_INVALID, thrown.message, {
    cause: thrown,
  });
}
