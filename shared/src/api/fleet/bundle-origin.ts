/**
 * What only the hub may say about a Bundle: who it was made for, where it goes, as whom it acts and what its chart's source and
 * values are read with. The hub signs it; a Bundle that has it without a valid signature is not deployed.
 */
import * as z from "zod";
import { appKinds, isOriginKind } from "./apps/index.ts";
import { described, fields, plainFlag, plainText, type Typed } from "./field.ts";

/** The Secrets that a source of charts is accessed with, as `NAMESPACE/NAME` on the hub. */
export const sourceAccessSchema = fields({
  kind: described(
    z.enum(["HelmRepository", "OCIRepository", "GitRepository", "Bucket"]),
    "The kind of the source.",
  ),
  url: plainText("The address that the credentials are for."),
  secret: plainText("The Secret with the credentials."),
  certSecret: plainText("The Secret with a client certificate or certificate authorities."),
  proxySecret: plainText("The Secret with the proxy's address."),
  insecure: plainFlag("Whether the source may be accessed without TLS."),
  passCredentials: plainFlag(
    "Whether the credentials are sent to other hosts that the index names.",
  ),
});

/** How the chart's source is accessed. */
export type SourceAccess = Typed<typeof sourceAccessSchema>;

const hubValuesSchema = fields({
  kind: described(z.enum(["Secret", "ConfigMap"]), "The kind of the object."),
  name: described(z.string(), "The object, as `NAMESPACE/NAME` on the hub."),
  key: described(z.string(), "The key with the values."),
  targetPath: plainText("Where the value is put; absent: it is a values file."),
  optional: plainFlag("Whether the object and the key may be absent."),
  literal: plainFlag("Whether the value is put there as it is, without parsing."),
});

const provenanceSchema = fields({
  ref: plainText(
    "Of Git: the full name of the reference by which the commit was found, or the commit when only that was named. Absent: not known.",
  ),
  chart: plainText("The chart as its HelmChart named it. Absent: not known, or there was none."),
  repository: plainText(
    "The address of the index that the chart was found in. Absent: not known, or there was none.",
  ),
  verifiedBy: plainText(
    "The Secret, as `NAMESPACE/NAME` on the hub, with a key of which its signature was verified; absent: none was verified.",
  ),
});

/** How one source of a chart was resolved. */
export type SourceProvenance = Typed<typeof provenanceSchema>;

export const bundleOriginSchema = fields({
  kind: described(
    z.enum(appKinds.filter(isOriginKind)),
    "The kind of the object that the Bundle was made for.",
  ),
  name: described(z.string(), "The object's name, in the Bundle's namespace."),
  uid: plainText("Its UID; the Bundle counts only while it lives."),
  generation: described(
    z.int().optional(),
    "Its generation that the Bundle was made of; the Bundle counts only for that one.",
  ),
  clusterNamespace: plainText(
    "The namespace of the Clusters that it is deployed to; absent: the Bundle's.",
  ),
  serviceAccount: plainText(
    "The user that the agent impersonates: `system:serviceaccount:NAMESPACE:NAME`.",
  ),
  access: described(sourceAccessSchema.optional(), "How the chart's source is accessed."),
  included: described(
    z.array(sourceAccessSchema).optional(),
    "How the repositories are accessed that a Git repository includes, in their order.",
  ),
  dependencies: described(
    z.array(sourceAccessSchema).optional(),
    "How the repositories are accessed that the chart has dependencies from; those that are not listed are accessed without credentials.",
  ),
  repositories: described(
    z.array(z.string()).optional(),
    "The addresses of all repositories that the chart has dependencies from, by which Policies decide.",
  ),
  provenance: described(
    z.array(provenanceSchema).optional(),
    "How the chart was resolved, and then the repositories that a Git repository includes, in their order, by which Policies decide. Absent: an earlier version resolved it.",
  ),
  valuesFrom: described(
    z.array(hubValuesSchema).optional(),
    "Objects of the hub with values, which agents merge with the Bundle's.",
  ),
  chosenMethods: described(
    z.array(z.enum(["install", "upgrade", "rollback"])).optional(),
    "The actions whose `serverSideApply` is not a default.",
  ),
  recordsNamespace: plainText(
    "The namespace in which Flux stored Helm's records of the release; they are copied when the release is adopted.",
  ),
});

/** What only the hub may say about a Bundle. */
export type BundleOrigin = Typed<typeof bundleOriginSchema>;
