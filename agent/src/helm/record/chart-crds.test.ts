import assert from "node:assert/strict";
import { test } from "vitest";
import { chartCrds } from "./chart-crds.ts";
import { readYamlDocument } from "./manifest.ts";

const definition = (name: string) =>
  `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: ${name}\nspec: {group: example.com}\n`;

test("the definitions of a chart are those in its folders crds, and in those of its subcharts", () => {
  const rendered = [
    `# Source: web/crds/widgets.yaml\n${definition("widgets")}`,
    definition("gadgets"),
    `# Source: web/charts/sub/crds/others.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n`,
    definition("others"),
    `# Source: web/templates/crds/templated.yaml\n${definition("templated")}`,
    definition("templated-too"),
  ]
    .map((document) => `---\n${document}`)
    .join("");

  assert.deepEqual(
    chartCrds(rendered, readYamlDocument).map(({ metadata }) => metadata.name),
    ["widgets", "gadgets", "others"],
  );
});
