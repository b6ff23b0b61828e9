/** The text of a CustomResourceDefinition, for the charts of tests. */

export interface DefinitionSpec {
  readonly group: string;
  /** The names are made from it: `Widget`, `widgets`. */
  readonly kind: string;
  /** With the subresource `status`; without it a patch sets any field. */
  readonly hasStatus?: boolean;
  /** The name of a printer column, in which two definitions of the same kind differ. */
  readonly column?: string;
}

/** Of a namespaced kind with the version v1, whose objects may have any fields. */
export function definitionText({ group, kind, hasStatus = false, column }: DefinitionSpec): string {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return [
    "apiVersion: apiextensions.k8s.io/v1",
    "kind: CustomResourceDefinition",
    `metadata: {name: ${plural}.${group}}`,
    "spec:",
    `  group: ${group}`,
    `  names: {kind: ${kind}, listKind: ${kind}List, plural: ${plural}, singular: ${singular}}`,
    "  scope: Namespaced",
    "  versions:",
    "    - name: v1",
    "      served: true",
    "      storage: true",
    "      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}",
    ...(hasStatus ? ["      subresources: {status: {}}"] : []),
    ...(column === undefined
      ? []
      : [`      additionalPrinterColumns: [{name: ${column}, type: string, jsonPath: .spec.a}]`]),
    "",
  ].join("\n");
}
