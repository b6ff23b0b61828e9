/** Tests of what must be true of every CRD. */
import assert from "node:assert/strict";
import { test } from "vitest";
import { type CustomResourceDefinition, renderCrd } from "../index.ts";

type StructuralSchema =
  CustomResourceDefinition["spec"]["versions"][number]["schema"]["openAPIV3Schema"];

interface Node {
  readonly path: string;
  readonly schema: StructuralSchema;
}

/** Defines the tests for each of them. */
export function testCrds(crds: readonly CustomResourceDefinition[]): void {
  for (const crd of crds) testCrd(crd);
  test("uninstalling the chart keeps the CRDs, and so all objects", () => {
    for (const { metadata } of crds)
      assert.equal(metadata.annotations["helm.sh/resource-policy"], "keep");
  });
}

function testCrd(crd: CustomResourceDefinition): void {
  const { kind } = crd.spec.names;
  const nodes = nodesOf(rootOf(crd), kind);

  const isFlat = rootOf(crd).properties?.["spec"] === undefined;

  test(`${kind} keeps unknown fields at every level of ${isFlat ? "the object" : "spec and status"}`, () => {
    const closed = nodes
      .filter(({ path, schema }) => (isFlat || path !== kind) && schema.properties !== undefined)
      .filter(({ schema }) => schema["x-kubernetes-preserve-unknown-fields"] !== true)
      .map(({ path }) => path);

    assert.deepEqual(closed, []);
  });

  test(`every field of ${kind} is described`, () => {
    const withoutDescription = nodes
      .filter(({ path }) => isFlat || /\.(spec|status)\./.test(path))
      .filter(({ path }) => !/(\[\]|\.\*|\.metadata)$/.test(path))
      .filter(({ path, schema }) => !path.includes(".pin.") && (schema.description ?? "") === "")
      .map(({ path }) => path);

    assert.deepEqual(withoutDescription, []);
  });

  test(`the rules of ${kind} are for texts of limited length only, within the cost budget of the API server`, () => {
    const unlimited = nodes
      .filter(
        ({ schema }) =>
          schema["x-kubernetes-validations"] !== undefined && schema.type === "string",
      )
      .filter(({ schema }) => schema.maxLength === undefined)
      .map(({ path }) => path);

    assert.deepEqual(unlimited, []);
  });

  test(`the CRD of ${kind} has no template syntax, so Helm renders it unchanged`, () => {
    assert.doesNotMatch(renderCrd(crd), /\{\{|\}\}/);
  });
}

/** The schema of an object of the CRD. */
export function rootOf(crd: CustomResourceDefinition): StructuralSchema {
  const [version] = crd.spec.versions;
  assert.ok(version !== undefined);
  return version.schema.openAPIV3Schema;
}

function nodesOf(schema: StructuralSchema, path: string): readonly Node[] {
  return [
    { path, schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      nodesOf(field, `${path}.${name}`),
    ),
    ...(schema.items === undefined ? [] : nodesOf(schema.items, `${path}[]`)),
    ...(schema.additionalProperties === undefined
      ? []
      : nodesOf(schema.additionalProperties, `${path}.*`)),
  ];
}

/** Adds the type that a JSON Schema validator needs for an extension of Kubernetes. */
export function asJsonSchema(schema: StructuralSchema): object {
  const text = JSON.stringify(schema);
  return JSON.parse(
    text.replaceAll('"x-kubernetes-int-or-string":true', '"type":["integer","string"]'),
  ) as object;
}
