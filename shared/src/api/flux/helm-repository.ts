/** Flux's HelmRepository: a repository of charts, over HTTP or in a registry. Written by users. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, type Typed } from "../fleet/index.ts";
import {
  duration,
  flag,
  localReference,
  shortDuration,
  string,
  stringMap,
  suspend,
} from "./field.ts";
import { sourceStatusFields } from "./source-status.ts";

/** Flux's type for access of other namespaces: one of the selectors has to match. */
export const accessFromSchema = fields({
  namespaceSelectors: described(
    z.array(
      fields({
        matchLabels: stringMap("Labels that the namespace has. Empty or absent: every namespace."),
      }),
    ),
    "Namespaces.",
  ),
});

export type AccessFrom = Typed<typeof accessFromSchema>;

const helmRepositorySpecSchema = fields({
  url: described(
    string({ pattern: /^(http|https|oci):\/\/.*$/ }),
    "The address of the repository: `https://…`, `http://…`, or `oci://…` with `type: oci`.",
  ),
  type: described(
    z.enum(["default", "oci"]).optional(),
    "`default`: a repository with an index; `oci`: a registry, which has no index, and so no status.",
    { "x-default-text": "default" },
  ),
  interval: described(duration.optional(), "How often the index is requested.", {
    "x-default-text": "`1m`",
  }),
  timeout: described(
    shortDuration.optional(),
    "How long a request may take, as in `60s` or `5m`. Hours are not accepted.",
    { "x-default-text": "`60s`" },
  ),
  secretRef: localReference(
    "A Secret of the namespace with `username` and `password`; for a registry also of the type `kubernetes.io/dockerconfigjson`.",
  ),
  certSecretRef: localReference(
    "A Secret of the namespace with `tls.crt` and `tls.key`, or `ca.crt`, or all of them. It takes precedence over certificates in `secretRef`.",
  ),
  passCredentials: flag(
    "Send the credentials also to other hosts, where the index has charts on them.",
  ),
  provider: described(
    z.enum(["generic", "aws", "azure", "gcp"]).default("generic"),
    "Where the credentials for a registry come from. Only `generic` is supported: the Secret.",
  ),
  insecure: flag("Use HTTP without TLS for a registry."),
  suspend,
  accessFrom: described(
    accessFromSchema.optional(),
    "The namespaces whose HelmReleases may use the Secrets of this source, which are sent to their clusters, where references across namespaces are allowed. Absent: only its own. Flux ignores it.",
  ),
});

const helmRepositoryStatusSchema = fields(sourceStatusFields);

export type HelmRepositorySpec = Typed<typeof helmRepositorySpecSchema>;
export type HelmRepositoryStatus = Typed<typeof helmRepositoryStatusSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface HelmRepository extends KubeObject {
  readonly spec?: HelmRepositorySpec;
  readonly status?: HelmRepositoryStatus;
}

export const helmRepositorySchemas = {
  spec: helmRepositorySpecSchema,
  status: helmRepositoryStatusSchema,
} as const;
