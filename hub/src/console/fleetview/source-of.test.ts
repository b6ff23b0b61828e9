import assert from "node:assert/strict";
import type { Condition } from "@flotilla/shared/api";
import type { SourceKind, SourceState } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { type AnySource, sourceOf } from "./source-of.ts";

/** One of generation 2; `observedGeneration`: that of its condition Ready. */
function aSource(
  ready: Condition["status"] | undefined,
  { observedGeneration = 2, spec = {} }: { observedGeneration?: number; spec?: object } = {},
): AnySource {
  const condition = { type: "Ready", reason: "Reason", message: "text", observedGeneration };
  return {
    metadata: { namespace: "ns", name: "charts", generation: 2 },
    spec: { url: "https://charts.example.com", ...spec },
    status: { conditions: ready === undefined ? [] : [{ ...condition, status: ready }] },
  };
}

describe("the state of a source", () => {
  const before = { observedGeneration: 1 };
  const isSuspended = { ...before, spec: { suspend: true } };
  const rows: readonly (readonly [string, SourceKind, AnySource, SourceState])[] = [
    ["is Ready when it was read", "HelmRepository", aSource("True"), "Ready"],
    ["is Failed when it cannot be read", "HelmRepository", aSource("False"), "Failed"],
    ["is Progressing before it was read", "HelmRepository", aSource(undefined), "Progressing"],
    ["is Progressing while it is read first", "HelmRepository", aSource("Unknown"), "Progressing"],
    ["is Progressing while a new spec is read", "Bucket", aSource("True", before), "Progressing"],
    ["stays Ready while it is suspended", "Bucket", aSource("True", isSuspended), "Ready"],
    ["stays Failed while it is suspended", "Bucket", aSource("False", isSuspended), "Failed"],
    [
      "is Ready without conditions for a HelmRepository of type oci",
      "HelmRepository",
      aSource(undefined, { spec: { type: "oci", url: "oci://r.example.com" } }),
      "Ready",
    ],
    [
      "is Ready without conditions for a HelmRepository with the address of a registry",
      "HelmRepository",
      aSource(undefined, { spec: { url: "oci://r.example.com" } }),
      "Ready",
    ],
    [
      "is Progressing before an OCIRepository was read",
      "OCIRepository",
      aSource(undefined, { spec: { url: "oci://r.example.com/web" } }),
      "Progressing",
    ],
  ];
  test.each(rows)("%s", (_, kind, source, state) => {
    assert.equal(sourceOf(kind, source).state, state);
  });
});

test("a source has its Secret, the code of its error, and a HelmChart its source", () => {
  const chart = aSource("False", {
    spec: { sourceRef: { kind: "HelmRepository", name: "shop" }, secretRef: { name: "login" } },
  });
  const polling = { error: "401", code: "REGISTRY_UNAUTHORIZED" };
  const { code, secret, source } = sourceOf("HelmChart", {
    ...chart,
    status: { ...chart.status, polling },
  });
  assert.deepEqual([code, secret], ["REGISTRY_UNAUTHORIZED", "login"]);
  assert.deepEqual(source, { kind: "HelmRepository", namespace: "ns", name: "shop" });
});
