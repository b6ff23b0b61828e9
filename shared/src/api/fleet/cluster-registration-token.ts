/** A ClusterRegistrationToken: lets agents enrol clusters in its namespace, until it expires. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import {
  described,
  duration,
  fields,
  integer,
  plainText,
  type Typed,
  text,
  time,
} from "./field.ts";
import { clusterLabelsRules } from "./validation-rules.ts";

/** The limit of removed clusters in the status; the oldest are dropped first. */
export const maxRemovedClients = 2_000;

const clusterRegistrationTokenSpecSchema = fields({
  ttl: described(
    duration.nullish(),
    "How long the token is valid, as in `24h`. `0`: without expiry.",
    {
      "x-default-text": "without expiry",
    },
  ),
  clusterName: text(
    "The only Cluster that the token is for; it is created when it does not exist. With such a token an agent replaces the agent of that Cluster, also with another key or client id: the Cluster keeps its name, labels and deployments, and the previous key is revoked.",
    { maxLength: 253, absent: "any number of Clusters" },
  ),
  allowedClusterNames: described(
    z.array(z.string().max(253)).max(64).nullish(),
    "Names that a Cluster may have that enrols with the token; a name that ends in `*` is a prefix. An agent that requests another name, or a Cluster of another name that was created for its client id, is rejected. An empty list allows none. Has no effect with `clusterName`.",
    {
      "x-default-text":
        "all names except names of Clusters that do not exist yet and that a target of a HelmOp or Bundle names in `clusterName`",
    },
  ),
  labels: described(
    z.record(z.string(), z.string().max(63)).nullish(),
    "Labels of every Cluster that enrols with the token. They override those that its agent requests.",
    { maxProperties: 32, "x-kubernetes-validations": clusterLabelsRules },
  ),
  allowedLabels: described(
    z.array(z.string().max(317)).max(64).nullish(),
    "Names of labels that an agent may request for its Cluster; a name that ends in `*` is a prefix. An empty list allows none.",
    {
      "x-default-text":
        "all except labels of `fleet.cattle.io`, `management.cattle.io` and `flotilla.dev`, which no agent may request",
    },
  ),
});

const clusterRegistrationTokenStatusSchema = fields({
  expires: time("When the token expires."),
  secretName: plainText(
    "The Secret with the token and the hub's address and authorities, which an agent needs to enrol.",
  ),
  secretUID: plainText(
    "The UID of that Secret, as the hub created it. One that somebody else has put there is replaced, and enrols nobody.",
  ),
  uses: integer("The number of Clusters whose agent enrolled last with this token."),
  removedClients: described(
    z.array(z.string()).max(maxRemovedClients).nullish(),
    "Digests of the client ids of clusters that enrolled with the token and whose Cluster was deleted: they cannot enrol with it again. The last 2,000.",
  ),
});

export type ClusterRegistrationTokenSpec = Typed<typeof clusterRegistrationTokenSpecSchema>;
export type ClusterRegistrationTokenStatus = Typed<typeof clusterRegistrationTokenStatusSchema>;

export interface ClusterRegistrationToken extends KubeObject {
  readonly spec: ClusterRegistrationTokenSpec;
  readonly status?: ClusterRegistrationTokenStatus;
}

export const clusterRegistrationTokenSchemas = {
  spec: clusterRegistrationTokenSpecSchema,
  status: clusterRegistrationTokenStatusSchema,
} as const;
