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

  const ofState: readonly (readonly [AnyState, text: RegExp, command: string | undefined])[] = [
    [
      "NoTargets",
      /^Correct its targets, or the labels of a Cluster/,
      "kubectl get clusters.fleet.cattle.io -n ns --show-labels",
    ],
    [
      "NotReady",
      /^Read the reason at the object that is not ready/,
      "flotilla logs helmop/web -n ns --cluster paris",
    ],
    [
      "ErrApplied",
      /^The error of Helm or of the agent is in the message\./,
      "flotilla reconcile helmop web -n ns --reset",
    ],
    [
      "Modified",
      /^Objects of the release were changed in the cluster\./,
      "flotilla diff helmop/web -n ns --cluster paris",
    ],
    [
      "Offline",
      /^It keeps running on the clusters that are offline/,
      "kubectl get clusters.fleet.cattle.io -n ns",
    ],
    ["Stalled", /^Change the field that the message names\./, "kubectl edit helmop web -n ns"],
    ["Failed", /^Change the field that the message names\./, "kubectl edit helmop web -n ns"],
    ["Blocked", /^Open it: its conditions say what it waits for\.$/, undefined],
  ];
  test.each(ofState)("about an app that is %s", (state, text, command) => {
    const advice = adviceFor(concern("HelmOp", state), "paris");
    assert.match(advice?.text ?? "", text);
    assert.equal(advice?.command, command);
  });

  test("is nothing about what is ready or in progress", () => {
    for (const state of ["Ready", "WaitApplied", "Pending"] as const)
      assert.equal(adviceFor(concern("HelmOp", state)), undefined);
  });

  test("about a cluster with releases that are not ready is to open it", () => {
    const advice = adviceFor(concern("Cluster", "NotReady"));
    assert.deepEqual(advice, { text: "Open it: the conditions say which releases are not ready." });
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
    ["is about the chart itself", { reason: "ValuesFilesError" }, /^Correct the chart/, /describe/],
    ["is to change a field", { reason: "Invalid" }, /field/, /edit/],
  ];
  test.each(cases)("%s", (_, more, text, command) => {
    const advice = adviceFor(concern("HelmOp", "NotAccepted", more));
    assert.match(advice?.text ?? "", text);
    assert.match(advice?.command ?? "", command);
  });

  const byCode: readonly (readonly [text: RegExp, codes: readonly string[]])[] = [
    [
      /^Correct the chart where it is published/,
      [
        ...["CHART_BUILD", "CHART_DEPENDENCY", "CHART_DIGEST_MISMATCH"],
        ...["CHART_NOT_IN_SOURCE", "CHART_VALUES_FILE"],
      ],
    ],
    [
      /^It cannot be reached or read from the hub\./,
      [
        ...["CHART_DOWNLOAD", "EGRESS_DENIED", "INDEX_FETCH", "INDEX_INVALID", "REGISTRY_ANSWER"],
        ...["REGISTRY_RATE_LIMITED", "REGISTRY_UNREACHABLE"],
      ],
    ],
    [/^Correct the chart or the version/, ["CHART_NOT_FOUND", "CHART_VERSION_NOT_FOUND"]],
    [/^A Policy of its namespace forbids it\./, ["POLICY_VIOLATION"]],
    [
      /^The registry or repository denies access, and it is read without a Secret/,
      ["HELM_SECRET_UNUSABLE", "REGISTRY_UNAUTHORIZED", "REPOSITORY_SECRET_INVALID"],
    ],
    [/^Change the field that the message names\./, ["", "INTERNAL"]],
  ];
  for (const [text, codes] of byCode)
    test.each(codes)("follows the code: %s", (code) => {
      for (const state of ["NotAccepted", "Stalled", "Failed"] as const)
        assert.match(adviceFor(concern("HelmOp", state, { code }))?.text ?? "", text);
    });

  const byReason: readonly (readonly [text: RegExp, reasons: readonly string[]])[] = [
    [
      /^Its signature is missing or not trusted\./,
      ["InvalidCommitSignature", "InvalidTagSignature", "VerificationError"],
    ],
    [
      /^The source that it names has nothing yet\./,
      ["NoSourceArtifact", "SourceNotReady", "SourceUnavailable"],
    ],
    [/^The registry or repository denies access/, ["AuthenticationFailed"]],
    [/^A Policy of its namespace forbids it\./, ["PolicyViolation"]],
    [/^Correct the chart where it is published/, ["ValuesFilesError"]],
  ];
  for (const [text, reasons] of byReason)
    test.each(reasons)("follows the reason where there is no code: %s", (reason) => {
      assert.match(adviceFor(concern("HelmOp", "NotAccepted", { reason }))?.text ?? "", text);
    });

  const other = { kind: "HelmOp", namespace: "ns", name: "base" } as const;
  const itself = { ...other, name: "web" } as const;
  const blockers = [
    ["absent", other, /base does not exist\. Create it/, "kubectl edit helmop web -n ns"],
    [
      "absent",
      { ...other, namespace: "platform" },
      /HelmOp platform\/base does not exist/,
      "kubectl edit helmop web -n ns",
    ],
    ["rejected", other, /Correct HelmOp base/, "kubectl describe helmop base -n ns"],
    [
      "elsewhere",
      other,
      /Deploy HelmOp base to these clusters, too/,
      "kubectl edit helmop base -n ns",
    ],
    ["suspended", other, /Resume HelmOp base/, "kubectl describe helmop base -n ns"],
    ["suspended", itself, /^Resume it/, "kubectl describe helmop web -n ns"],
    ["blocked", other, /wait for each other/, "kubectl edit helmop web -n ns"],
    [
      "unmatched",
      itself,
      /web depends on a Bundle that matches tier=base, and on one/,
      "kubectl get bundles.fleet.cattle.io -n ns --show-labels",
    ],
  ] as const;
  test.each(blockers)("of what waits for something %s: %o", (why, ref, text, command) => {
    const blocker = { ref, why, clusters: 1, selectors: ["tier=base", "app in (a,b)"] };
    const advice = adviceFor(concern("HelmOp", "Blocked", { blocker }));
    assert.match(advice?.text ?? "", text);
    assert.equal(advice?.command, command);
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
