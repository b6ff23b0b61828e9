/** Texts of objects, for the charts of tests. They may have templates of Helm in them. */

export interface ConfigMapSpec {
  /** Default: that of the release. */
  readonly namespace?: string;
  /** In the syntax of flow: `{version: "1.0.0"}`. */
  readonly data?: string;
  /** The event of Helm's hook that it is, such as `pre-delete`; absent: it is none. */
  readonly hook?: string;
}

export function configMapText(name: string, spec: ConfigMapSpec = {}): string {
  const { namespace, data = "{}", hook } = spec;
  return `apiVersion: v1\nkind: ConfigMap\n${metadataText(name, { namespace, hook })}data: ${data}\n`;
}

/** A Service that the API server rejects, because it has no port. `hook`: see ConfigMapSpec. */
export function rejectedText(hook?: string): string {
  return `apiVersion: v1\nkind: Service\n${metadataText("rejected", { hook })}spec: {ports: []}\n`;
}

function metadataText(
  name: string,
  {
    namespace,
    hook,
  }: { readonly namespace?: string | undefined; readonly hook?: string | undefined },
): string {
  return [
    `metadata:\n  name: "${name}"\n`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}\n`]),
    ...(hook === undefined ? [] : [`  annotations: {helm.sh/hook: ${hook}}\n`]),
  ].join("");
}

export interface DefinitionSpec {
  readonly group: string;
  /** The names are made from it: `Widget`, `widgets`. */
  readonly kind: string;
  /** With the subresource `status`; without it a patch sets any field. */
  readonly hasStatus?: boolean;
  /** The name of a printer column, in which two definitions of the same kind differ. */
  readonly column?: string;
}

/** The definition of a namespaced kind with the version v1, whose objects may have any fields. */
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
