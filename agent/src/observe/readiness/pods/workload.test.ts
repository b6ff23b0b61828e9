import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { builtInKind } from "../built-in-kinds.ts";
import { slimObject } from "../slim-object.ts";
import { toWorkload, type Workload } from "./workload.ts";

function workloadOf(apiVersion: string, kind: string, selector: unknown): Workload | undefined {
  const metadata = { namespace: "shop", name: "web", uid: "1" };
  const object: KubeObject = { metadata, ...{ spec: { selector } } };
  const resource = builtInKind(apiVersion, kind);
  return resource && toWorkload(resource, slimObject(object), "0 of 1");
}

describe("the pods of a workload", () => {
  const cases: readonly (readonly [
    what: string,
    apiVersion: string,
    kind: string,
    selector: unknown,
    expected: string | undefined,
  ])[] = [
    [
      "are selected by its labels",
      "apps/v1",
      "Deployment",
      { matchLabels: { app: "web", "example.com/tier": "front" } },
      "app=web,example.com/tier=front",
    ],
    [
      "are selected by its expressions",
      "apps/v1",
      "StatefulSet",
      {
        matchLabels: { app: "web" },
        matchExpressions: [
          { key: "a", operator: "In", values: ["1", "2"] },
          { key: "b", operator: "NotIn", values: ["3"] },
          { key: "c", operator: "Exists" },
          { key: "d", operator: "DoesNotExist" },
        ],
      },
      "app=web,a in (1,2),b notin (3),c,!d",
    ],
    [
      "of a ReplicationController are selected by labels only",
      "v1",
      "ReplicationController",
      { app: "web" },
      "app=web",
    ],
    [
      "of a Job are selected by the labels of its controller",
      "batch/v1",
      "Job",
      { matchLabels: { "batch.kubernetes.io/controller-uid": "1" } },
      "batch.kubernetes.io/controller-uid=1",
    ],
    ["are not read without a selector", "apps/v1", "Deployment", {}, undefined],
    ["are not read for a Service", "v1", "Service", { app: "web" }, undefined],
  ];
  for (const [what, apiVersion, kind, selector, expected] of cases)
    test(what, () => assert.equal(workloadOf(apiVersion, kind, selector)?.selector, expected));
});
