/** Flux's OCIRepository: an artifact in a registry. Written by users. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, plainText, type Typed } from "../fleet/index.ts";
import { duration, flag, localReference, shortDuration, string, suspend } from "./field.ts";
import { sourceStatusFields } from "./source-status.ts";
import { repositoryVerification } from "./verify.ts";

const layerSelectorSchema = fields({
  mediaType: plainText("The first layer of this media type; absent: the first layer."),
  operation: described(
    z.enum(["extract", "copy"]).optional(),
    "`extract`: the files of the layer; `copy`: the layer as it is.",
    { "x-default-text": "extract" },
  ),
});

const ociRepositorySpecSchema = fields({
  url: described(
    string({ pattern: /^oci:\/\/.*$/ }),
    "The repository in the registry, `oci://…`, without a tag.",
  ),
  ref: described(
    fields({
      tag: plainText("The tag."),
      semver: plainText("A constraint: the newest version that satisfies it. It wins over `tag`."),
      semverFilter: plainText("A regular expression: only the tags that match it are compared."),
      digest: plainText("The digest, `sha256:…`. It wins over `semver` and `tag`."),
    }).optional(),
    "What to fetch.",
    { "x-default-text": "the tag `latest`" },
  ),
  layerSelector: described(layerSelectorSchema.optional(), "Which layer to fetch."),
  interval: described(duration, "How often the registry is requested."),
  timeout: described(
    shortDuration.default("60s"),
    "How long a request may take, as in `60s` or `5m`. Hours are not accepted.",
  ),
  provider: described(
    z.enum(["generic", "aws", "azure", "gcp"]).default("generic"),
    "Where the credentials come from. Only `generic` is supported: the Secret.",
  ),
  secretRef: localReference("A Secret of the type `kubernetes.io/dockerconfigjson`."),
  certSecretRef: localReference(
    "A Secret with `tls.crt` and `tls.key`, or `ca.crt`, or all of them.",
  ),
  proxySecretRef: localReference(
    "A Secret with the `address` of a proxy, and its `username` and `password`.",
  ),
  serviceAccountName: plainText("A ServiceAccount, whose `imagePullSecrets` have the credentials."),
  insecure: flag("Use HTTP without TLS, or do not verify the certificate."),
  verify: repositoryVerification,
  ignore: plainText(
    "Files of the artifact to leave out, as in a `.gitignore`; it wins over `.sourceignore` files.",
  ),
  suspend,
});

const ociRepositoryStatusSchema = fields({
  ...sourceStatusFields,
  observedIgnore: plainText("`spec.ignore` of the artifact."),
  observedLayerSelector: described(
    layerSelectorSchema.optional(),
    "`spec.layerSelector` of the artifact.",
  ),
});

export type OCIRepositorySpec = Typed<typeof ociRepositorySpecSchema>;
export type OCIRepositoryStatus = Typed<typeof ociRepositoryStatusSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface OCIRepository extends KubeObject {
  readonly spec?: OCIRepositorySpec;
  readonly status?: OCIRepositoryStatus;
}

export const ociRepositorySchemas = {
  spec: ociRepositorySpecSchema,
  status: ociRepositoryStatusSchema,
} as const;
