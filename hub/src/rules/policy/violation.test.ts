import assert from "node:assert/strict";
import type { HelmOp, Policy } from "@flotilla/shared/api";
import { createPatterns } from "@flotilla/shared/regex";
import { growthOf } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { aBundle, aPolicy, aRelease } from "../../testing/index.ts";
import { type PlannedRelease, releaseOfBundle } from "../frontend/planned-release.ts";
import { forbidsNamespaces, mergePolicies } from "./merge-policies.ts";
import { usedBy } from "./used.ts";
import { violationOf } from "./violation.ts";

const patterns = createPatterns();
const repo = "https://charts.example.com";
const helm = { repo, chart: "web", version: "~1.2" };

function violation(fields: Omit<Policy, "metadata">, release: PlannedRelease) {
  const policy = mergePolicies([aPolicy("guard", fields)]);
  return violationOf([policy], usedBy(release), patterns);
}

interface Row {
  readonly what: string;
  readonly policy: Omit<Policy, "metadata">;
  readonly spec?: HelmOp["spec"];
}

const allowed: readonly Row[] = [
  { what: "anything, when it is empty", policy: {} },
  {
    what: "no ServiceAccount, when some are allowed and none is required",
    policy: { allowedServiceAccounts: ["deployer"] },
  },
  {
    what: "an allowed ServiceAccount",
    policy: { requireServiceAccount: true, allowedServiceAccounts: ["deployer"] },
    spec: { serviceAccount: "deployer" },
  },
  {
    what: "no ServiceAccount of the HelmOp, when all its targets have one",
    policy: { requireServiceAccount: true },
    spec: { targets: [{ serviceAccount: "a" }, { doNotDeploy: true }, { serviceAccount: "b" }] },
  },
  {
    what: "no Secret, when some are allowed",
    policy: { helmOp: { allowedHelmSecretNames: ["login"] } },
  },
  {
    what: "a repository that a pattern matches",
    policy: { helmOp: { allowedHelmRepoPatterns: ["https://[a-z]+\\.example\\.com"] } },
  },
  {
    what: "a repository that is listed verbatim, though it is not a pattern that matches itself",
    policy: { helmOp: { allowedHelmRepoPatterns: ["https://x.example/(a"] } },
    spec: { helm: { ...helm, repo: "https://x.example/(a" } },
  },
  {
    what: "what one valid pattern matches, when another pattern is invalid",
    policy: { helmOp: { allowedHelmRepoPatterns: ["(", "https://.*"] } },
  },
  {
    what: "a registry, whose chart field is empty, when charts are restricted",
    policy: { helmOp: { allowedChartPatterns: ["web"] } },
    spec: { helm: { repo: "oci://registry.example.com/db" } },
  },
  {
    what: "an archive whose address a chart pattern matches, when repositories are restricted",
    policy: {
      helmOp: {
        allowedHelmRepoPatterns: [repo],
        allowedChartPatterns: ["https://files\\..*\\.tgz"],
      },
    },
    spec: { helm: { chart: "https://files.example.com/a.tgz" } },
  },
  {
    what: "a target with another repository that deploys nothing",
    policy: { helmOp: { allowedHelmRepoPatterns: [repo] } },
    spec: { targets: [{ doNotDeploy: true, helm: { repo: "https://evil.example" } }] },
  },
];
describe("a Policy allows", () => {
  for (const { what, policy, spec = {} } of allowed) {
    test(what, () => assert.equal(violation(policy, aRelease(spec)), undefined));
  }
});

const copies = (...names: readonly string[]) =>
  names.map((name) => ({ kind: name.startsWith("cm-") ? "ConfigMap" : "Secret", name }));
const copyCases: readonly Row[] = [
  {
    what: "every copy when nothing is listed",
    policy: { requireServiceAccount: false },
    spec: { downstreamResources: copies("any", "cm-any") },
  },
  {
    what: "a copy of a Secret that is allowed for the chart's source",
    policy: { helmOp: { allowedHelmSecretNames: ["login"] } },
    spec: { downstreamResources: copies("login") },
  },
  {
    what: "a copy of a Secret that is allowed as a copy beside others",
    policy: {
      helmOp: { allowedHelmSecretNames: ["login"], allowedDownstreamSecretNames: ["tls"] },
    },
    spec: { downstreamResources: copies("login", "tls", "cm-any") },
  },
  {
    what: "a copy of a ConfigMap that is allowed",
    policy: { helmOp: { allowedDownstreamConfigMapNames: ["cm-a"] } },
    spec: { downstreamResources: copies("cm-a", "any") },
  },
  {
    what: "a copy in a target that deploys nothing",
    policy: { helmOp: { allowedHelmSecretNames: ["login"] } },
    spec: { targets: [{ doNotDeploy: true, downstreamResources: copies("of-others") }] },
  },
];
describe("a Policy allows", () => {
  for (const { what, policy, spec = {} } of copyCases) {
    test(what, () => assert.equal(violation(policy, aRelease(spec)), undefined));
  }
});

const rejected: readonly (Row & { readonly message: RegExp })[] = [
  {
    what: "no ServiceAccount, when one is required",
    policy: { requireServiceAccount: true, allowedServiceAccounts: ["ci", "deployer"] },
    message:
      /^serviceAccount is required by Policy but is not set: set spec\.serviceAccount to one of \[ci, deployer\] \(Policy guard\); what is deployed stays/,
  },
  {
    what: "a target without a ServiceAccount, when others have one",
    policy: { requireServiceAccount: true },
    spec: { targets: [{ serviceAccount: "a" }, { clusterName: "x" }] },
    message: /^serviceAccount is required by Policy but is not set in target target001: /,
  },
  {
    what: "another ServiceAccount",
    policy: { allowedServiceAccounts: ["ci", "deployer"] },
    spec: { serviceAccount: "root" },
    message: /^disallowed serviceAccount root: root is not in the allowed set \[ci, deployer\]/,
  },
  {
    what: "another ServiceAccount in a target",
    policy: { allowedServiceAccounts: ["ci"] },
    spec: { serviceAccount: "ci", targets: [{ name: "prod", serviceAccount: "root" }] },
    message: /^disallowed serviceAccount root in target prod: root is not in/,
  },
  {
    what: "another Secret",
    policy: { helmOp: { allowedHelmSecretNames: ["login"] } },
    spec: { helmSecretName: "of-others" },
    message: /^disallowed helmSecretName of-others: of-others is not in the allowed set \[login\]/,
  },
  {
    what: "the agent's own ServiceAccount, when one is required",
    policy: { requireServiceAccount: true, allowedServiceAccounts: ["flotilla-agent"] },
    spec: { serviceAccount: "deployer", targets: [{ serviceAccount: "flotilla-agent" }] },
    message: /^disallowed serviceAccount flotilla-agent in target target000: it is the agent's own/,
  },
  {
    what: "the agent's own ServiceAccount with its namespace, when one is required",
    policy: { requireServiceAccount: true },
    spec: { serviceAccount: "flotilla-agent/flotilla-agent" },
    message: /^disallowed serviceAccount flotilla-agent\/flotilla-agent: it is the agent's own/,
  },
  {
    what: "an account of another namespace than the allowed one",
    policy: { allowedServiceAccounts: ["team-a/deployer"] },
    spec: { serviceAccount: "team-b/deployer" },
    message:
      /^disallowed serviceAccount team-b\/deployer: team-b\/deployer is not in the allowed set/,
  },
  {
    what: "a copy of another Secret than those for the chart's source",
    policy: { helmOp: { allowedHelmSecretNames: ["login"] } },
    spec: { downstreamResources: copies("login", "of-others") },
    message:
      /^disallowed Secret of-others in downstreamResources: of-others is not in the allowed set \[login\]/,
  },
  {
    what: "a copy of another Secret in a target",
    policy: { helmOp: { allowedDownstreamSecretNames: ["tls"] } },
    spec: { targets: [{ downstreamResources: copies("of-others") }] },
    message: /^disallowed Secret of-others in downstreamResources in target target000: /,
  },
  {
    what: "a copy of another Secret whose kind is written in lower case, as agents are sent it",
    policy: { helmOp: { allowedHelmSecretNames: ["login"] } },
    spec: { downstreamResources: [{ kind: "secret", name: "of-others" }] },
    message: /^disallowed Secret of-others in downstreamResources: /,
  },
  {
    what: "a copy of another ConfigMap",
    policy: { helmOp: { allowedDownstreamConfigMapNames: ["cm-a"] } },
    spec: { downstreamResources: copies("cm-b") },
    message: /^disallowed ConfigMap cm-b in downstreamResources: cm-b is not in the allowed set/,
  },
  {
    what: "another repository",
    policy: { helmOp: { allowedHelmRepoPatterns: ["https://good\\..*"] } },
    message:
      /^disallowed helm repo https:\/\/charts\.example\.com\/: .* matches nothing in the allowed set \[https:\/\/good\\\.\.\*\]/,
  },
  {
    what: "a repository that only starts like an allowed one",
    policy: { helmOp: { allowedHelmRepoPatterns: ["https://charts"] } },
    message: /^disallowed helm repo /,
  },
  {
    what: "another repository in a target",
    policy: { helmOp: { allowedHelmRepoPatterns: [repo] } },
    spec: { targets: [{ name: "prod", helm: { repo: "https://evil.example" } }] },
    message: /^disallowed helm repo https:\/\/evil\.example\/ in target prod: /,
  },
  {
    what: "another chart",
    policy: { helmOp: { allowedChartPatterns: ["db|cache"] } },
    message: /^disallowed helm chart web: web matches nothing in the allowed set \[db\|cache\]/,
  },
  {
    what: "an archive at another address, which has no repo field",
    policy: { helmOp: { allowedHelmRepoPatterns: [repo] } },
    spec: { helm: { chart: "https://evil.example/a.tgz" } },
    message: /^disallowed helm repo https:\/\/evil\.example\/a\.tgz: /,
  },
  {
    what: "everything, when its only pattern cannot be compiled",
    policy: { helmOp: { allowedHelmRepoPatterns: ["https://good", "https://("] } },
    message:
      /^disallowed helm repo .*: policy failed to compile regex "https:\/\/\(": .*missing closing \)/,
  },
];
describe("a Policy rejects", () => {
  for (const { what, policy, spec = {}, message } of rejected) {
    test(what, () => {
      const error = violation(policy, aRelease(spec));

      assert.equal(error?.code, "POLICY_VIOLATION");
      assert.match(error.message, message);
    });
  }

  test("the ServiceAccount before the Secret before the repository before the chart", () => {
    const policy: Omit<Policy, "metadata"> = {
      requireServiceAccount: true,
      allowedServiceAccounts: ["ci"],
      helmOp: {
        allowedHelmSecretNames: ["login"],
        allowedHelmRepoPatterns: ["x"],
        allowedChartPatterns: ["x"],
      },
    };
    const steps: readonly (readonly [spec: HelmOp["spec"], message: RegExp])[] = [
      [{ helmSecretName: "a" }, /^serviceAccount is required/],
      [{ helmSecretName: "a", serviceAccount: "b" }, /^disallowed serviceAccount/],
      [{ helmSecretName: "a", serviceAccount: "ci" }, /^disallowed helmSecretName/],
      [{ serviceAccount: "ci" }, /^disallowed helm repo/],
      [{ serviceAccount: "ci", helm: { ...helm, repo: "x" } }, /^disallowed helm chart/],
    ];
    for (const [spec, message] of steps)
      assert.match(violation(policy, aRelease(spec))?.message ?? "", message);
  });

  test("a Bundle by the same rules, with a message about Bundles", () => {
    const bundle = aBundle({
      helm,
      helmOpOptions: { helmOpSecretName: "of-others" },
    });

    assert.match(
      violation({ requireServiceAccount: true }, releaseOfBundle(bundle))?.message ?? "",
      /^serviceAccount is required by Policy but is not set on the Bundle: /,
    );
    assert.match(
      violation({ helmOp: { allowedHelmSecretNames: ["a"] } }, releaseOfBundle(bundle))?.message ??
        "",
      /^disallowed helmSecretName of-others: /,
    );
  });

  test("without showing a password in an address", () => {
    const error = violation(
      { helmOp: { allowedHelmRepoPatterns: ["x"] } },
      aRelease({ helm: { ...helm, repo: "https://user:hunter2@evil.example/a?token=hunter2" } }),
    );

    assert.ok(error !== undefined);
    assert.doesNotMatch(error.message, /hunter2/);
  });

  test("with a truncated list of what is allowed", () => {
    const many = Array.from({ length: 50 }, (_, index) => `account-${index}`);

    const error = violation({ allowedServiceAccounts: many }, aRelease({ serviceAccount: "x" }));

    assert.match(error?.message ?? "", /account-7, 42 more\]/);
  });
});

test("the Policies of all namespaces share what patterns may take", () => {
  const patterns = createPatterns();
  const used = usedBy(aRelease({ helm }));
  const matching = (at: number) =>
    mergePolicies([
      aPolicy("guard", { helmOp: { allowedHelmRepoPatterns: [`((a?b?){450}${at})?.*`] } }),
    ]);

  assert.equal(violationOf([matching(0)], used, patterns), undefined);
  const many = Array.from({ length: 50 }, (_, at) => matching(at + 1));
  assert.match(violationOf(many, used, patterns)?.message ?? "", /take too long together/);
});

// 30 ms to compile and 20 ms to compare each: without a budget a minute for each reconcile.
test("a thousand patterns take no longer than a few, and the violation says so", () => {
  const used = usedBy(aRelease({ helm }));
  const growth = growthOf({ small: 50, large: 1_000 }, (count) => {
    const allowedHelmRepoPatterns = Array.from(
      { length: count },
      (_, at) => `(a?b?){450}[ab]{0,450}${at}`,
    );
    const policy = mergePolicies([aPolicy("guard", { helmOp: { allowedHelmRepoPatterns } })]);
    const found = violationOf([policy], used, createPatterns());

    assert.equal(found?.code, "POLICY_VIOLATION");
    assert.match(found.message, /the patterns of the policy take too long together/);
  });

  assert.ok(growth < 0.5, `it grows with the power of ${growth}`);
});

describe("an account that the hub requires in all namespaces", () => {
  const judged = (policies: readonly Policy[], spec: HelmOp["spec"] = {}) =>
    violationOf(
      [mergePolicies(policies, { requireServiceAccount: true })],
      usedBy(aRelease(spec)),
      patterns,
    )?.message;

  test("is missing where there is no Policy", () => {
    assert.equal(
      judged([]),
      "serviceAccount is required by the hub but is not set: set spec.serviceAccount (value requireServiceAccount of the chart flotilla); what is deployed stays as it is until this is changed",
    );
    assert.equal(judged([], { serviceAccount: "deployer" }), undefined);
    assert.match(
      judged([], { serviceAccount: "flotilla-agent" }) ?? "",
      /^disallowed serviceAccount/,
    );
  });

  test("is missing where a Policy requires none", () =>
    assert.match(judged([aPolicy("guard", {})]) ?? "", /^serviceAccount is required by the hub /));

  test("creates no namespaces unless a Policy allows that", () => {
    const rules = { requireServiceAccount: true };
    const creating = aPolicy("guard", { allowNamespaceCreation: true });
    assert.equal(forbidsNamespaces([mergePolicies([], rules)]), true);
    assert.equal(forbidsNamespaces([mergePolicies([creating], rules)]), false);
  });
});
