/** A ClusterRegistrationToken: lets agents enrol clusters in its namespace, for as long as it lives. */
import { z } from "zod";
import type { KubeObject } from "../kube/objects/object.ts";
import { clusterLabelsRules } from "./crd/rules.ts";
import { duration } from "./duration.ts";
import { described, fields, integer, plainText, type Typed, text, time } from "./field.ts";

/** As many removed clusters as a token remembers; the first of them are forgotten for the last. */
export const maxRemovedClients = 2_000;

const clusterRegistrationTokenSpecSchema = fields({
  ttl: described(
    duration.nullish(),
    "How long the token is good for, as in `24h`. `0`: for ever.",
    {
      "x-default-text": "for ever",
    },
  ),
  clusterName: text(
    "The one Cluster that the token is for, made under this name where it is not there. With such a token an agent takes over a Cluster that another key or another client id is enrolled as: it keeps its name, labels and deployments, and the key of before is worth nothing any more.",
    { maxLength: 253, absent: "any number of Clusters" },
  ),
  labels: described(
    z.record(z.string(), z.string().max(63)).nullish(),
    "Labels that every Cluster gets that enrols with the token, whatever its agent asks for.",
    { maxProperties: 32, "x-kubernetes-validations": clusterLabelsRules },
  ),
  allowedLabels: described(
    z.array(z.string().max(317)).max(64).nullish(),
    "Names of labels that an agent may give its own Cluster; one that ends in `*` stands for all that begin so. An empty list allows none.",
    {
      "x-default-text":
        "all, but for those under `fleet.cattle.io`, `management.cattle.io` and `flotilla.dev`, which an agent never gives",
    },
  ),
});

const clusterRegistrationTokenStatusSchema = fields({
  expires: time("When the token ends."),
  secretName: plainText("The Secret that has the token, and what else an agent needs to enrol."),
  uses: integer("How many Clusters there are whose agent enrolled with it last."),
  removedClients: described(
    z.array(z.string()).max(maxRemovedClients).nullish(),
    "Digests of the client ids of clusters that enrolled with it and whose Cluster was deleted: they do not come back with this token. The last 2,000.",
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
