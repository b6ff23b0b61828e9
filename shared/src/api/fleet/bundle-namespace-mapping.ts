/**
 * A BundleNamespaceMapping: Bundles of its namespace may be deployed to the Clusters of other namespaces, too. Its fields are at the
 * top level, as in Fleet.
 */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { conditionsSchema } from "./condition.ts";
import { described, fields, integer, type Typed } from "./field.ts";
import { selector } from "./label-selector.ts";
import { maxListed } from "./summary.ts";

export const bundleNamespaceMappingSchema = fields({
  bundleSelector: selector(
    "Labels of the Bundles of its namespace that the mapping is for, those in `spec.labels` of a HelmOp. An empty selector: all of them. Absent: none.",
  ),
  namespaceSelector: selector(
    "Labels of the namespaces whose Clusters these Bundles may be deployed to, beside the Clusters of their own. An empty selector: all namespaces. Absent: none.",
  ),
});

const namespaceNames = (text: string) =>
  described(z.array(z.string()).max(maxListed).nullish(), text);

export const bundleNamespaceMappingStatusSchema = fields({
  conditions: conditionsSchema,
  matchingNamespaces: namespaceNames(
    "The first of the other namespaces with Clusters that it selects, by name, at most ten.",
  ),
  namespaceCount: integer("The number of these namespaces."),
  refusedNamespaces: namespaceNames(
    "The first of them whose Policies have `allowedBundleNamespaces` without the namespace of the mapping, at most ten.",
  ),
  refusedCount: integer("The number of these."),
});

type MappingFields = Typed<typeof bundleNamespaceMappingSchema>;
export type BundleNamespaceMappingStatus = Typed<typeof bundleNamespaceMappingStatusSchema>;

export interface BundleNamespaceMapping extends KubeObject, MappingFields {
  readonly status?: BundleNamespaceMappingStatus;
}
