/** Whether the chart of the hub grants what the hub does with each kind of app. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { appDefinition, appKinds } from "./app-kinds.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Granting {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly Rule[];
}

const chart = "../../../../../charts/flotilla/templates/rbac.yaml";
const rules = clusterRulesIn(readFileSync(new URL(chart, import.meta.url), "utf8"));

/** Reading, finalizers and requests by annotation, and the status. */
const needed = [
  ["", "get"],
  ["", "list"],
  ["", "watch"],
  ["", "patch"],
  ["/status", "update"],
] as const;

test.each(appKinds)("the chart lets the hub reconcile a %s", (kind) => {
  assert.deepEqual(missingRights(appDefinition(kind).resource), []);
});

test("a kind that the chart does not know lacks every right", () => {
  expect(missingRights({ group: "planted.example.com", plural: "planted" })).toEqual([
    "get planted",
    "list planted",
    "watch planted",
    "patch planted",
    "update planted/status",
  ]);
});

test("a kind that the hub only reads lacks the rights to write", () => {
  const policies = { group: "fleet.cattle.io", plural: "policies" };
  expect(missingRights(policies)).toEqual(["patch policies", "update policies/status"]);
});

function missingRights({ group, plural }: { readonly group: string; readonly plural: string }) {
  return needed
    .filter(
      ([subresource, verb]) =>
        !rules.some(
          ({ apiGroups, resources, resourceNames, verbs }) =>
            apiGroups.includes(group) &&
            resources.includes(`${plural}${subresource}`) &&
            resourceNames === undefined &&
            verbs.includes(verb),
        ),
    )
    .map(([subresource, verb]) => `${verb} ${plural}${subresource}`);
}

/** The rules of the hub in all namespaces. No rule for apps depends on a value of the chart, so it is read without Helm. */
function clusterRulesIn(template: string): readonly Rule[] {
  const plain = template.replace(/^\s*\{\{.*\n/gm, "").replace(/\{\{.*?\}\}/g, "value");
  const objects = parseAllDocuments(plain).map((document) => document.toJS() as Granting);
  const role = objects.find(
    ({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "value-hub",
  );
  return role?.rules ?? [];
}
