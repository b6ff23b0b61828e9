import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { AnyState } from "../state/index.ts";
import { adviceFor } from "./advice.ts";
import type { Concern } from "./concern.ts";

function concern(kind: Concern["kind"], state: AnyState, more: Partial<Concern> = {}): Concern {
  return {
    ...{ kind, namespace: "ns", name: "web", state, message: "", reason: "", code: "", since: "" },
    ...{ suspended: false, clusters: 1, harm: "down", secret: "", host: "", examples: [] },
    values: [],
    ...{ blocker: undefined, same: [], affected: [], ...more },
  };
}

describe("what to do", () => {
  test("is said for everything that needs attention", () => {
    const states = [
      ...(["NotAccepted", "ErrApplied", "NotReady", "Modified", "Stalled"] as const),
      ...(["NoTargets", "Blocked", "Offline"] as const),
    ];
    for (const state of states)
      assert.ok((adviceFor(concern("HelmOp", state))?.text ?? "").length > 20, state);
    assert.match(adviceFor(concern("Cluster", "Offline"))?.command ?? "", /flotilla-agent/);
    assert.match(adviceFor(concern("Cluster", "WaitCheckIn"))?.text ?? "", /registration token/);
    assert.match(adviceFor(concern("HelmRepository", "Failed"))?.command ?? "", /kubectl edit/);
  });

  test("is never decided by words in a message", () => {
    const message = "401 Unauthorized: connection refused, no chart version found";
    for (const state of ["NotAccepted", "Stalled", "ErrApplied", "NotReady", "Failed"] as const)
      assert.deepEqual(
        adviceFor(concern("HelmOp", state, { message })),
        adviceFor(concern("HelmOp", state)),
      );
  });

  const cases: readonly (readonly [
    what: string,
    Partial<Concern>,
    text: RegExp,
    command: RegExp,
  ])[] = [
    [
      "names the Secret where credentials are rejected",
      { code: "REGISTRY_UNAUTHORIZED", secret: "login" },
      /^Correct the Secret ns\/login/,
      /describe secret login -n ns/,
    ],
    [
      "names the Secret where it is absent or has no credentials",
      { reason: "Error", code: "HELM_SECRET_UNUSABLE", secret: "login" },
      /^Create or correct the Secret ns\/login/,
      /secret login/,
    ],
    [
      "names the Secret where it is absent for a source of Flux",
      { reason: "AuthenticationFailed", secret: "login" },
      /^Create or correct the Secret ns\/login/,
      /secret login/,
    ],
    [
      "says that no Secret is used",
      { code: "REGISTRY_UNAUTHORIZED" },
      /without a Secret/,
      /kubectl edit helmop web/,
    ],
    ["is about the network", { code: "REGISTRY_UNREACHABLE" }, /network/, /describe helmop/],
    ["is about the version", { code: "CHART_VERSION_NOT_FOUND" }, /constraint/, /edit/],
    ["is about a Policy", { reason: "PolicyViolation" }, /Policy/, /get policies/],
    ["is about a Policy, by its code", { code: "POLICY_VIOLATION" }, /Policy/, /get policies/],
    ["is about a signature", { reason: "VerificationError" }, /signature/, /describe/],
    ["is about the chart's source", { reason: "SourceNotReady" }, /source/, /describe/],
    [
      "follows the code where the reason says less",
      { reason: "SourceNotReady", code: "CHART_VERSION_NOT_FOUND" },
      /constraint/,
      /edit/,
    ],
    ["is to change a field", { reason: "Invalid" }, /field/, /edit/],
  ];
  test.each(cases)("%s", (_, more, text, command) => {
    const advice = adviceFor(concern("HelmOp", "NotAccepted", more));
    assert.match(advice?.text ?? "", text);
    assert.match(advice?.command ?? "", command);
  });

  const other = { kind: "HelmOp", namespace: "ns", name: "base" } as const;
  const blockers = [
    ["absent", other, /base does not exist\. Create it/],
    ["absent", { ...other, namespace: "platform" }, /HelmOp platform\/base does not exist/],
    ["rejected", other, /Correct HelmOp base/],
    ["elsewhere", other, /Deploy HelmOp base to these clusters, too/],
    ["suspended", other, /Resume HelmOp base/],
    ["suspended", { ...other, name: "web" }, /^Resume it/],
    ["blocked", other, /wait for each other/],
    [
      "unmatched",
      { ...other, name: "web" },
      /web depends on a Bundle that matches tier=base, and on one/,
    ],
  ] as const;
  test.each(blockers)("of what waits for something %s: %o", (why, ref, text) => {
    const blocker = { ref, why, clusters: 1, selectors: ["tier=base", "app in (a,b)"] };
    assert.match(adviceFor(concern("HelmOp", "Blocked", { blocker }))?.text ?? "", text);
  });

  const secret = { kind: "Secret", namespace: "apps", name: "login" } as const;
  const configMap = { kind: "ConfigMap", namespace: "apps", name: "sizes" } as const;
  const values: readonly (readonly [
    what: string,
    Concern["kind"],
    Concern["values"],
    text: RegExp,
    command: string,
  ])[] = [
    [
      "of the cluster",
      "HelmOp",
      [secret],
      /^Create or correct Secret apps\/login, which valuesFrom names, in that cluster; /,
      "kubectl get secret/login -n apps   # in that cluster",
    ],
    [
      "of the hub",
      "HelmRelease",
      [secret],
      /^Create or correct Secret apps\/login, which valuesFrom names, on the hub; /,
      "kubectl get secret/login -n apps",
    ],
    [
      "that are several",
      "Bundle",
      [secret, configMap, { ...secret, namespace: "other" }],
      /^Create or correct what the message names .* in that cluster: Secret apps\/login, ConfigMap apps\/sizes, Secret other\/login; /,
      "kubectl get secret/login configmap/sizes -n apps   # in that cluster",
    ],
  ];
  for (const state of ["ErrApplied", "Stalled"] as const)
    test.each(values)(
      `names the objects with values %s (${state})`,
      (_, kind, refs, text, command) => {
        const advice = adviceFor(concern(kind, state, { values: refs }));
        assert.match(advice?.text ?? "", text);
        assert.equal(advice?.command, command);
      },
    );

  test("names a command that the kind has", () => {
    const commandFor = (kind: Concern["kind"]) => adviceFor(concern(kind, "ErrApplied"))?.command;
    assert.equal(commandFor("HelmOp"), "flotilla reconcile helmop web -n ns --reset");
    assert.equal(commandFor("HelmRelease"), "flotilla reconcile helmrelease web -n ns --reset");
    assert.equal(commandFor("Bundle"), "flotilla reconcile bundle web -n ns --reset");
  });
});
