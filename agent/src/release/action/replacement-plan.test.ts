import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import type { ImmutableRefusal } from "../../helm/cli/refusals.ts";
import { planReplacement, refusalsText } from "./replacement-plan.ts";

function refusal(kind: string, name: string, namespace?: string): ImmutableRefusal {
  return {
    object: { ...(namespace !== undefined && { namespace }), kind, name },
    field: "spec.template",
  };
}

function document(kind: string, name: string, namespace?: string): KubeObject {
  return { kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

function planOf(
  refusals: readonly ImmutableRefusal[],
  documents: readonly KubeObject[],
  replaced: readonly string[] = [],
): string {
  const plan = planReplacement(refusals, documents, replaced);
  return plan.kind === "keep" ? plan.why : plan.objects.map(({ text }) => text).join(", ");
}

describe("what cannot be changed", () => {
  const job = document("Job", "once");
  const cases: readonly (readonly [string, Parameters<typeof planOf>, string])[] = [
    ["is replaced", [[refusal("Job", "once")], [job]], "Job once"],
    ["is replaced with its namespace", [[refusal("Job", "once", "shop")], [job]], "Job shop/once"],
    [
      "is replaced in the order of Helm",
      [
        [refusal("Deployment", "web"), refusal("Job", "once")],
        [job, document("Deployment", "web")],
      ],
      "Deployment web, Job once",
    ],
    [
      "is replaced once for a content",
      [[refusal("Job", "once")], [job], ["Job once"]],
      "Job once was deleted and created again before",
    ],
    [
      "stays where the chart has it twice and Helm says not which",
      [[refusal("Job", "once")], [document("Job", "once", "a"), document("Job", "once", "b")]],
      "the chart has more than one Job once",
    ],
    [
      "is found by its namespace",
      [[refusal("Job", "once", "b")], [document("Job", "once", "a"), document("Job", "once", "b")]],
      "Job b/once",
    ],
    [
      "stays where the chart does not have it",
      [[refusal("Job", "other")], [job]],
      "Job other is not in the chart's manifest",
    ],
    ...["PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition"].map(
      (kind) =>
        [
          `stays if it is a ${kind}, and so do the others`,
          [
            [refusal("Job", "once"), refusal(kind, "data")],
            [job, document(kind, "data")],
          ],
          `force never deletes a ${kind}`,
        ] as const satisfies readonly [string, Parameters<typeof planOf>, string],
    ),
  ];
  test.each(cases)("%s", (_, args, expected) => {
    assert.equal(planOf(...args), expected);
  });
});

test("a sentence names three objects with their fields, and what can be done", () => {
  const jobs = ["a", "b", "c", "d"].map((name) => refusal("Job", name, "shop"));
  assert.equal(
    refusalsText(jobs),
    "the API server refuses to change spec.template of Job shop/a, spec.template of Job shop/b, spec.template of Job shop/c and 1 more, because the field is immutable; with force it is deleted and created again",
  );
  assert.match(
    refusalsText([refusal("PersistentVolumeClaim", "data")]),
    /delete what cannot be changed yourself, or restore the field$/,
  );
  assert.match(
    refusalsText(jobs, "Job shop/a is being deleted"),
    /immutable; Job shop\/a is being/,
  );
});
