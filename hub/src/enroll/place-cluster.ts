/** Finds or makes the Cluster of an agent whose token and key were checked. */
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
import { RpcError } from "../serve/errors.ts";
import { type ClusterChoice, chooseCluster } from "./choose-cluster.ts";
import type { ClusterLabels } from "./cluster-labels.ts";
import { enrollErrors } from "./errors.ts";
import { clientIdIndex, clientIdKey } from "./indexes.ts";
import { refusalOf } from "./refusals.ts";
import { refuseRemoved } from "./refuse-removed.ts";
import type { TokenTerms } from "./token-terms.ts";

export interface PlaceClusterDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly events: EventRecorder;
}

export interface Applicant {
  readonly namespace: string;
  readonly clientId: string;
  readonly fingerprint: string;
  readonly clusterName: string | undefined;
  readonly labels: ClusterLabels;
  /** `undefined` where its key alone has opened the door. */
  readonly token: TokenTerms | undefined;
}

export interface PlacedCluster {
  readonly cluster: Cluster;
  readonly how: Exclude<ClusterChoice["kind"], "refused">;
}

/** Two replicas or two requests may choose at the same time; the one that loses looks again. */
const attempts = 5;

export async function placeCluster(
  deps: PlaceClusterDeps,
  applicant: Applicant,
): Promise<PlacedCluster> {
  const { rest, clusters, events } = deps;
  const { namespace, clientId, fingerprint, token } = applicant;
  /** What was read from the API server because the cache did not know it yet. */
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
    if (choice.kind === "refused") {
      const { answer, note } = refusalOf(choice.why, { cluster: choice.cluster, clientId, token });
      if (note !== undefined)
        events.record(choice.cluster, {
          type: "Warning",
          reason: "EnrolmentRefused",
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
    if (token !== undefined) await refuseRemoved(rest, { name, clientId, token });
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
   * From now on only this key is it. By compare and swap: of two agents that take its place at once, one looks again.
   * Enrolling once more with the same key and token changes nothing.
   */
  async function enrolAs(
    cluster: Cluster,
    how: "same" | "adopt" | "take-over",
  ): Promise<Cluster | undefined> {
    const { name, resourceVersion, annotations = {}, labels: known = {} } = cluster.metadata;
    const own = ownAnnotations();
    const isNew = Object.entries(own).some(([key, value]) => annotations[key] !== value);
    if (!isNew && cluster.spec.clientID === clientId) return cluster;
    // What a Cluster that is there is labelled as, is the hub's to say.
    const asked = how === "adopt" ? applicant.labels.own : {};
    const labels = { ...asked, ...known, ...applicant.labels.fixed };
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

/** What the API server refuses because of what the agent asked for is the agent's to know. */
function asAnswer(thrown: unknown): unknown {
  if (!(thrown instanceof KubeStatusError) || thrown.retryable) return thrown;
  return new RpcError(status.INVALID_ARGUMENT, enrollErrors.ENROLMENT_INVALID, thrown.message, {
    cause: thrown,
  });
}
