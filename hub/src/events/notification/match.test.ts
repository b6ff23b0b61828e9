import assert from "node:assert/strict";
import type { AlertSpec, EventSource } from "@flotilla/shared/flux";
import { createPatternBudget, createPatterns } from "@flotilla/shared/regex";
import { describe, test } from "vitest";
import type { FluxEvent, ObservedEvent } from "./event.ts";
import { matchAlert } from "./match.ts";
import type { WrittenAlert } from "./objects.ts";

const within = (ms: number) => ({
  sources: createPatternBudget(1_000),
  expressions: createPatternBudget(ms),
});
const enough = () => within(1_000);
const rules = { crossNamespace: false, patterns: createPatterns() };

function alert(spec: Partial<AlertSpec>): WrittenAlert {
  return {
    metadata: { namespace: "prod", name: "on-call" },
    spec: {
      providerRef: { name: "chat" },
      eventSources: [{ kind: "HelmOp", name: "*" }],
      eventSeverity: "info",
      ...spec,
    },
  };
}

function observed(
  changes: Partial<FluxEvent> = {},
  { namespace = "prod", ...more }: Partial<ObservedEvent> & { readonly namespace?: string } = {},
): ObservedEvent {
  return {
    event: {
      involvedObject: { apiVersion: "v1", kind: "HelmOp", name: "web", namespace, uid: "1" },
      severity: "info",
      timestamp: "2026-01-01T00:00:00Z",
      message: "Helm upgrade succeeded for release web/web.v2",
      reason: "UpgradeSucceeded",
      metadata: { revision: "1.2.3" },
      reportingController: "hub",
      reportingInstance: "hub-0",
      ...changes,
    },
    labels: { team: "frontend" },
    annotated: {},
    ...more,
  };
}

const source = (more: Partial<EventSource>): Partial<AlertSpec> => ({
  eventSources: [{ kind: "HelmOp", name: "*", ...more }],
});

describe("an Alert", () => {
  for (const [what, spec, event, isMatch] of [
    ["selects all objects of a kind in its namespace", {}, observed(), true],
    ["does not select another kind", source({ kind: "Bundle" }), observed(), false],
    ["selects by name", source({ name: "web" }), observed(), true],
    ["does not select another name", source({ name: "api" }), observed(), false],
    ["selects by labels", source({ matchLabels: { team: "frontend" } }), observed(), true],
    ["needs all labels", source({ matchLabels: { team: "frontend", a: "b" } }), observed(), false],
    [
      "needs labels with a name, too",
      source({ name: "web", matchLabels: { a: "b" } }),
      observed(),
      false,
    ],
    ["does not select another namespace", {}, observed({}, { namespace: "staging" }), false],
    [
      "needs one source of several",
      {
        eventSources: [
          { kind: "Bundle", name: "*" },
          { kind: "HelmOp", name: "web" },
        ],
      },
      observed(),
      true,
    ],
    ["with severity error selects no success", { eventSeverity: "error" }, observed(), false],
    [
      "with severity error selects a failure",
      { eventSeverity: "error" },
      observed({ severity: "error" }),
      true,
    ],
    ["with severity info selects a failure", {}, observed({ severity: "error" }), true],
    ["selects nothing while it is suspended", { suspend: true }, observed(), false],
    [
      "selects what a part of an inclusion matches",
      { inclusionList: ["^never", "upgrade .*eeded"] },
      observed(),
      true,
    ],
    [
      "does not select what no inclusion matches",
      { inclusionList: ["^upgrade"] },
      observed(),
      false,
    ],
    [
      "does not select what an exclusion matches",
      { exclusionList: ["upgrade"] },
      observed(),
      false,
    ],
    [
      "lets an exclusion beat an inclusion",
      { inclusionList: ["upgrade"], exclusionList: ["web"] },
      observed(),
      false,
    ],
    ["ignores an exclusion that is invalid", { exclusionList: ["("] }, observed(), true],
    [
      "selects nothing by an inclusion that is invalid",
      { inclusionList: ["("] },
      observed(),
      false,
    ],
  ] as const)
    test(what, () => {
      assert.equal(matchAlert(alert(spec), event, rules, enough()).kind === "yes", isMatch);
    });

  for (const [namespace, crossNamespace, isMatch] of [
    ["staging", false, false],
    ["staging", true, true],
    ["*", false, false],
    ["*", true, true],
    ["other", true, false],
  ] as const)
    test(`with namespace ${namespace} selects ${isMatch ? "an" : "no"} object of another namespace where that is ${crossNamespace ? "" : "not "}allowed`, () => {
      const matched = matchAlert(
        alert(source({ namespace })),
        observed({}, { namespace: "staging" }),
        { ...rules, crossNamespace },
        enough(),
      );

      assert.equal(matched.kind === "yes", isMatch);
    });

  test("names an expression that is invalid", () => {
    const { remarks } = matchAlert(alert({ exclusionList: ["("] }), observed(), rules, enough());

    assert.equal(remarks[0]?.reason, "InvalidConfig");
    assert.match(remarks[0].note, /^the regular expression \( is ignored: /);
  });
});

describe("the expressions of an Alert", () => {
  test("are ignored beyond the 32nd, also where the definition has no limit", () => {
    const others = Array.from({ length: 32 }, (_, at) => `other-${at}`);

    const matched = matchAlert(
      alert({ exclusionList: [...others, "Helm"] }),
      observed(),
      rules,
      enough(),
    );

    assert.equal(matched.kind, "yes");
    assert.match(
      matched.remarks[0]?.note ?? "",
      /^1 regular expressions are ignored: a list has 32/,
    );
  });

  test("match nothing when the budget of their namespace is spent, and say so once", () => {
    const matched = matchAlert(
      alert({ inclusionList: ["upgrade", "Helm"] }),
      observed(),
      rules,
      within(0),
    );

    assert.deepEqual(matched, {
      kind: "no",
      remarks: [
        {
          reason: "InvalidConfig",
          note: "regular expressions are ignored: matching the expressions of all Alerts of this namespace takes too long; write fewer or simpler ones",
        },
      ],
    });
  });
});

describe("the metadata of an event", () => {
  test("is that of the object, the Alert and the controller, and the later one takes precedence", () => {
    const matched = matchAlert(
      alert({ eventMetadata: { env: "prod", summary: "a", revision: "x" }, summary: "b" }),
      observed({}, { annotated: { env: "dev", owner: "web" } }),
      rules,
      enough(),
    );

    assert.deepEqual(matched.kind === "yes" && matched.event.metadata, {
      env: "prod",
      owner: "web",
      summary: "b",
      revision: "1.2.3",
    });
    assert.deepEqual(
      matched.remarks.map(({ reason, note }) => `${reason}: ${note}`),
      [
        "MetadataAppendFailed: metadata key env is set by the annotations of the object and spec.eventMetadata; spec.eventMetadata takes precedence",
        "MetadataAppendFailed: metadata key summary is set by spec.eventMetadata and spec.summary; spec.summary takes precedence",
        "MetadataAppendFailed: metadata key revision is set by spec.eventMetadata and the controller; the controller takes precedence",
      ],
    );
  });

  test("has the cluster that the Alert sets, as in Flux, whose controllers set none", () => {
    const failed = observed({ metadata: { revision: "1.2.3", cluster: "fleet-default/oslo" } });

    const matched = matchAlert(
      alert({ eventMetadata: { cluster: "production" } }),
      failed,
      rules,
      enough(),
    );

    assert.deepEqual(matched.kind === "yes" && matched.event.metadata, {
      cluster: "production",
      revision: "1.2.3",
    });
    assert.deepEqual(matched.remarks, []);
  });
});
