/** The CustomResourceDefinitions of the product's kinds. */
import { stringify } from "yaml";
import { type KindDefinition, kinds, type PrinterColumn } from "./kinds.ts";
import { type StructuralSchema, structuralSchema } from "./structural-schema.ts";

export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: true;
      readonly storage: true;
      readonly subresources?: { readonly status: Readonly<Record<string, never>> };
      readonly additionalPrinterColumns?: readonly PrinterColumn[];
      readonly schema: { readonly openAPIV3Schema: StructuralSchema };
    }[];
  };
}

/** All CRDs, in a fixed order. */
export function allCrds(): readonly CustomResourceDefinition[] {
  return kinds.map(crdOf);
}

/** The CRD of a kind. */
export function crdOf(kind: KindDefinition): CustomResourceDefinition {
  const { resource, shortNames, categories, columns } = kind;
  const hasStatus = kind.status !== undefined;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${resource.plural}.${resource.group}`,
      // Deleting a CRD deletes all its objects: uninstalling the chart must not delete the fleet.
      annotations: { "helm.sh/resource-policy": "keep", ...kind.annotations },
    },
    spec: {
      group: resource.group,
      scope: resource.namespaced ? "Namespaced" : "Cluster",
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular: resource.kind.toLowerCase(),
        ...(shortNames !== undefined && { shortNames }),
        categories,
      },
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          ...(hasStatus && { subresources: { status: {} } }),
          ...(columns.length > 0 && { additionalPrinterColumns: columns }),
          schema: { openAPIV3Schema: rootSchema(kind) },
        },
      ],
    },
  };
}

const rootFields = {
  apiVersion: { type: "string", description: "The API's group and version." },
  kind: { type: "string", description: "The object's kind." },
  metadata: { type: "object" },
} as const satisfies Readonly<Record<string, StructuralSchema>>;

function rootSchema(kind: KindDefinition): StructuralSchema {
  const { description } = kind;
  if ("fields" in kind) {
    const own = structuralSchema(kind.fields);
    const status = kind.status && {
      status: {
        ...structuralSchema(kind.status),
        description: "The observed state. Written by the hub.",
      },
    };
    return { ...own, description, properties: { ...rootFields, ...own.properties, ...status } };
  }
  const { spec, status, statusText, statusDefault, absentSpec, rules } = kind;
  return {
    type: "object",
    description,
    ...(rules !== undefined && { "x-kubernetes-validations": rules }),
    properties: {
      ...rootFields,
      spec: {
        ...structuralSchema(spec),
        description: "The desired state.",
        ...(absentSpec === "empty" && { default: {} }),
      },
      ...(status !== undefined && {
        status: {
          ...structuralSchema(status),
          description: statusText ?? "The observed state. Written by the hub.",
          ...(statusDefault !== undefined && { default: statusDefault }),
        },
      }),
    },
    ...(absentSpec === "reject" && { required: ["spec"] }),
  };
}

/** A CRD as YAML. */
export function renderCrd(crd: CustomResourceDefinition): string {
  // Anchors are valid YAML, but unusual in a manifest.
  return stringify(crd, { aliasDuplicateObjects: false, lineWidth: 120 });
}
