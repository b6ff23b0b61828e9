/** Flux's Bucket: files in an object storage. Written by users. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, plainText, type Typed } from "../fleet/index.ts";
import { duration, flag, localReference, shortDuration, string, suspend } from "./field.ts";
import { sourceStatusFields } from "./source-status.ts";

const stsSchema = fields({
  provider: described(z.enum(["aws", "ldap"]), "The provider of the token service."),
  endpoint: described(string({ pattern: /^(http|https):\/\/.*$/ }), "Its address."),
  secretRef: localReference("A Secret with `username` and `password`, for `ldap`."),
  certSecretRef: localReference(
    "A Secret with `tls.crt` and `tls.key`, or `ca.crt`, or all of them, for `ldap`.",
  ),
});

const bucketSpecSchema = fields({
  provider: described(
    z.enum(["generic", "aws", "gcp", "azure"]).default("generic"),
    "The kind of object storage.",
  ),
  bucketName: described(z.string(), "The name of the bucket."),
  endpoint: described(z.string(), "The host of the object storage, without `https://`."),
  region: plainText("The region of the bucket."),
  prefix: plainText("Only objects whose key begins with it."),
  interval: described(duration, "How often the bucket is requested."),
  timeout: described(
    shortDuration.default("60s"),
    "How long a request may take, as in `60s` or `5m`. Hours are not accepted.",
  ),
  secretRef: localReference("A Secret with `accesskey` and `secretkey`."),
  certSecretRef: localReference(
    "A Secret with `tls.crt` and `tls.key`, or `ca.crt`, or all of them.",
  ),
  proxySecretRef: localReference(
    "A Secret with the `address` of a proxy, and its `username` and `password`.",
  ),
  serviceAccountName: plainText("For identities of a cloud provider. Not supported."),
  sts: described(
    stsSchema.optional(),
    "A service that issues credentials that end soon. Not supported.",
  ),
  insecure: flag("Use HTTP without TLS."),
  ignore: plainText("Files to leave out, as in a `.gitignore`; it wins over `.sourceignore`."),
  suspend,
}).meta({
  "x-kubernetes-validations": [
    {
      rule: "self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)",
      message: "sts is for the providers 'aws' and 'generic' only: remove it",
    },
    {
      rule: "self.provider != 'aws' || !has(self.sts) || self.sts.provider == 'aws'",
      message: "the provider 'aws' has only the sts provider 'aws'",
    },
    {
      rule: "self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap'",
      message: "the provider 'generic' has only the sts provider 'ldap'",
    },
    {
      rule: "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.secretRef)",
      message: "sts.secretRef is for the sts provider 'ldap' only: remove it",
    },
    {
      rule: "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.certSecretRef)",
      message: "sts.certSecretRef is for the sts provider 'ldap' only: remove it",
    },
    {
      rule: "self.provider != 'generic' || !has(self.serviceAccountName)",
      message: "the provider 'generic' has no serviceAccountName: remove it",
    },
    {
      rule: "!has(self.secretRef) || !has(self.serviceAccountName)",
      message: "secretRef and serviceAccountName exclude each other: remove one of them",
    },
  ],
});

const bucketStatusSchema = fields({
  ...sourceStatusFields,
  observedIgnore: plainText("`spec.ignore` of the artifact."),
});

export type BucketSpec = Typed<typeof bucketSpecSchema>;
export type BucketStatus = Typed<typeof bucketStatusSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface Bucket extends KubeObject {
  readonly spec?: BucketSpec;
  readonly status?: BucketStatus;
}

export const bucketSchemas = { spec: bucketSpecSchema, status: bucketStatusSchema } as const;
