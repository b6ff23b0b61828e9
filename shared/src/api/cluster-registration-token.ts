/** A ClusterRegistrationToken: lets agents enrol clusters in its namespace, for as long as it lives. */
import type { KubeObject } from "../kube/object.ts";
import { duration } from "./duration.ts";
import { described, fields, integer, plainText, type Typed, time } from "./field.ts";

const clusterRegistrationTokenSpecSchema = fields({
  ttl: described(
    duration.nullish(),
    "How long the token is good for, as in `24h`. `0`: for ever.",
    {
      "x-default-text": "for ever",
    },
  ),
});

const clusterRegistrationTokenStatusSchema = fields({
  expires: time("When the token ends."),
  secretName: plainText("The Secret that has the token, and what else an agent needs to enrol."),
  uses: integer("How many clusters have enrolled with it."),
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
