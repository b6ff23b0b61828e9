import assert from "node:assert/strict";
import type { Bundle, BundleOrigin, Policy } from "@flotilla/shared/api";
import { referencedObjectsOf } from "@flotilla/shared/referenced";
import { createPatterns } from "@flotilla/shared/regex";
import type { Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aBundle, aHelmOp, aPolicy } from "../../testing/index.ts";
import { buildContent } from "../content/build-content.ts";
import { releaseOfBundle, releaseOfHelmOp } from "../frontend/planned-release.ts";
import { mergePolicies } from "./merge-policies.ts";
import { usedBy } from "./used.ts";
import { violationOf } from "./violation.ts";

const patterns = createPatterns();
const commit = "a".repeat(40);
const good = "https://git.example.com/charts";
const gitPin = {
  ...{ kind: "git" as const, version: "1.2.9", url: good, commit, path: "web", build: {} },
} satisfies Pin;

interface Given {
  readonly origin?: Partial<BundleOrigin>;
  readonly pin?: Pin;
  readonly spec?: Bundle["spec"];
}

/** The Bundle of the HelmRelease `apps/web`. */
function aReleaseBundle({ origin = {}, pin = gitPin, spec = {} }: Given = {}): Bundle {
  const helm = { repo: good, chart: "web", version: "1.2.9" };
  const bundle = aBundle({
    helm,
    ...spec,
    helmOpOptions: {
      pins: [{ ...helm, pin }],
      origin: {
        ...{ kind: "HelmRelease", name: "web" },
        access: { kind: "GitRepository", url: good },
        ...origin,
      },
    },
  });
  return { ...bundle, metadata: { ...bundle.metadata, namespace: "apps" } };
}

function policyIn(namespace: string, fields: Omit<Policy, "metadata">) {
  const policy = aPolicy("guard", fields);
  return mergePolicies([{ ...policy, metadata: { ...policy.metadata, namespace } }]);
}

describe("what a HelmRelease uses is rejected by a Policy that does not list it:", () => {
  const secrets = { helmOp: { allowedHelmSecretNames: ["login"] } };
  const repositories = { helmOp: { allowedHelmRepoPatterns: ["https://git\\.example\\.com/.*"] } };
  const evil = "https://evil.example/git";
  const rows: readonly (Given & {
    readonly what: string;
    readonly policy: Omit<Policy, "metadata">;
    readonly message: RegExp;
  })[] = [
    {
      what: "a Secret with values",
      policy: secrets,
      origin: { valuesFrom: [{ kind: "Secret", name: "apps/payroll", key: "values.yaml" }] },
      message: /^disallowed Secret payroll in valuesFrom: payroll is not in the allowed set/,
    },
    {
      what: "a ConfigMap with values",
      policy: { helmOp: { allowedDownstreamConfigMapNames: ["settings"] } },
      origin: { valuesFrom: [{ kind: "ConfigMap", name: "apps/other", key: "values.yaml" }] },
      message: /^disallowed ConfigMap other in valuesFrom: /,
    },
    ...(["secret", "certSecret", "proxySecret"] as const).flatMap((field) => {
      const source = { kind: "GitRepository" as const, url: good, [field]: "apps/payroll" };
      const message = new RegExp(`^disallowed Secret payroll in ${field}Ref of the `);
      return [
        { what: `the ${field} of its source`, origin: { access: source } },
        { what: `the ${field} of an included repository`, origin: { included: [source] } },
        { what: `the ${field} of a dependency's`, origin: { dependencies: [source] } },
      ].map((row) => ({ ...row, policy: secrets, message }));
    }),
    {
      what: "a Secret of another namespace with an allowed name",
      policy: secrets,
      origin: { access: { kind: "GitRepository", url: good, secret: "others/login" } },
      message: /^disallowed Secret others\/login in secretRef of the GitRepository: /,
    },
    {
      what: "an account of another namespace with an allowed name",
      policy: { allowedServiceAccounts: ["deployer"] },
      origin: { serviceAccount: "system:serviceaccount:others:deployer" },
      message: /^disallowed serviceAccount others\/deployer: /,
    },
    {
      what: "the address of an included repository",
      policy: repositories,
      pin: { ...gitPin, include: [{ url: evil, commit, fromPath: "chart", toPath: "web" }] },
      message: /^disallowed GitRepository https:\/\/evil\.example\/git: /,
    },
    {
      what: "the address that the pin has still, after that of the source was changed",
      policy: repositories,
      pin: { ...gitPin, url: evil },
      message: /^disallowed GitRepository https:\/\/evil\.example\/git: /,
    },
    {
      what: "the address of a bucket that the pin has still",
      policy: repositories,
      pin: {
        ...{ kind: "bucket", version: "1.2.9", endpoint: "evil.example", bucketName: "charts" },
        ...{ digest: `sha256:${"a".repeat(64)}`, path: "web", build: {} },
      },
      message: /^disallowed Bucket https:\/\/evil\.example\/charts: /,
    },
    {
      what: "an address that leads to another place than a pattern sees",
      policy: repositories,
      pin: { ...gitPin, url: `${good}/../../evil/charts` },
      message: /^disallowed GitRepository .*: it has \.\. in its path, and leads to another place/,
    },
    {
      what: "an address of another host than a pattern sees",
      policy: { helmOp: { allowedHelmRepoPatterns: ["https://[^/]+\\.example\\.com/.*"] } },
      pin: { ...gitPin, url: "https://evil.test?.example.com/charts" },
      message: /^disallowed GitRepository /,
    },
    {
      what: "the address of a dependency that needs no credentials",
      policy: repositories,
      origin: { repositories: [evil] },
      message: /^disallowed dependency from https:\/\/evil\.example\/git: /,
    },
    {
      what: "submodules, which may come from any address",
      policy: repositories,
      pin: { ...gitPin, recurseSubmodules: true },
      message: /^disallowed submodules of GitRepository https:\/\/git\.example\.com\/charts: /,
    },
    {
      what: "submodules of an included repository",
      policy: repositories,
      pin: {
        ...gitPin,
        include: [{ url: good, commit, recurseSubmodules: true, fromPath: "a", toPath: "b" }],
      },
      message: /^disallowed submodules of GitRepository /,
    },
  ];
  test.each(rows)("$what", ({ policy, message, ...given }) => {
    const error = violationOf([policyIn("apps", policy)], used(given), patterns);
    assert.equal(error?.code, "POLICY_VIOLATION");
    assert.match(error.message, message);
  });
});

describe("what a HelmRelease uses is accepted by a Policy that lists", () => {
  const rows: readonly (Given & {
    readonly what: string;
    readonly policy: Omit<Policy, "metadata">;
  })[] = [
    {
      what: "each of its Secrets and ConfigMaps",
      policy: {
        helmOp: {
          ...{ allowedHelmSecretNames: ["login", "tls"], allowedDownstreamSecretNames: ["values"] },
          allowedDownstreamConfigMapNames: ["settings"],
        },
      },
      origin: {
        access: {
          ...{ kind: "GitRepository", url: good },
          ...{ secret: "apps/login", certSecret: "apps/tls" },
        },
        valuesFrom: [
          { kind: "Secret", name: "apps/values", key: "a" },
          { kind: "Secret", name: "apps/login", key: "a" },
          { kind: "ConfigMap", name: "apps/settings", key: "a" },
        ],
      },
    },
    {
      what: "the Secret and the account of another namespace by NAMESPACE/NAME",
      policy: {
        allowedServiceAccounts: ["others/deployer"],
        helmOp: { allowedHelmSecretNames: ["others/login"] },
      },
      origin: {
        serviceAccount: "system:serviceaccount:others:deployer",
        access: { kind: "GitRepository", url: good, secret: "others/login" },
      },
    },
    {
      what: "submodules",
      policy: { helmOp: { allowedHelmRepoPatterns: ["https://.*"], allowSubmodules: true } },
      pin: { ...gitPin, recurseSubmodules: true },
    },
    { what: "nothing", policy: {}, pin: { ...gitPin, recurseSubmodules: true } },
  ];
  test.each(rows)("$what", ({ policy, ...given }) => {
    assert.equal(violationOf([policyIn("apps", policy)], used(given), patterns), undefined);
  });
});

describe("Policies of the release's namespace and of the Clusters' are judged one after the other:", () => {
  const origin = { serviceAccount: "system:serviceaccount:apps:deployer" };
  const wide = { allowedServiceAccounts: ["deployer", "admin"], allowNamespaceCreation: true };

  test("what one allows, the other one does not", () => {
    const judging = [
      policyIn("apps", wide),
      policyIn("fleet-local", { allowedServiceAccounts: ["deployer"] }),
    ];
    assert.match(
      violationOf(judging, used({ origin }), patterns)?.message ?? "",
      /^disallowed serviceAccount apps\/deployer: .* \(Policy fleet-local\/guard\)/,
    );
  });

  test("what both allow is accepted", () => {
    const judging = [
      policyIn("apps", wide),
      policyIn("fleet-local", { allowedServiceAccounts: ["apps/deployer"] }),
    ];
    assert.equal(violationOf(judging, used({ origin }), patterns), undefined);
  });
});

describe("every object that agents are sent for it is one that Policies judge:", () => {
  const source = (name: string) => ({
    ...{ kind: "GitRepository" as const, url: good },
    ...{ secret: `b/${name}`, certSecret: `b/${name}-tls`, proxySecret: `b/${name}-proxy` },
  });
  const downstreamResources = [
    { kind: "secret", name: "copied" },
    { kind: "ConfigMap", name: "copied" },
  ];

  test("of a HelmRelease", () => {
    const bundle = aReleaseBundle({
      spec: { downstreamResources },
      origin: {
        access: source("own"),
        included: [source("included")],
        dependencies: [source("dependency")],
        valuesFrom: [
          { kind: "Secret", name: "apps/values", key: "a" },
          { kind: "ConfigMap", name: "apps/values", key: "a" },
        ],
      },
    });
    const { origin } = bundle.spec.helmOpOptions ?? {};
    const content = buildContent({
      ...{ bundleName: "web", options: bundle.spec, pin: gitPin },
      origin,
    });
    assert.deepEqual(
      judgedRefs(usedBy(releaseOfBundle(bundle)), "apps"),
      sentRefs(content, "apps"),
    );
  });

  test("of a HelmOp", () => {
    const helmOp = aHelmOp({ helmSecretName: "login", downstreamResources });
    const content = buildContent({
      ...{ bundleName: "web", options: helmOp.spec, pin: gitPin },
      accessSecret: "login",
    });
    const { namespace = "" } = helmOp.metadata;
    assert.deepEqual(
      judgedRefs(usedBy(releaseOfHelmOp(helmOp)), namespace),
      sentRefs(content, namespace),
    );
  });

  function judgedRefs({ objects }: ReturnType<typeof usedBy>, own: string) {
    return objects
      .map(({ requested: { kind, namespace, name } }) =>
        placedRef(`${kind}/${namespace}/${name}`, own),
      )
      .toSorted();
  }

  function sentRefs(content: Parameters<typeof referencedObjectsOf>[0], own: string) {
    return referencedObjectsOf(content)
      .map((ref) => placedRef(ref, own))
      .toSorted();
  }

  /** With the namespace always. */
  function placedRef(ref: string, own: string): string {
    const parts = ref.split("/");
    return parts.length === 3 ? ref : [parts[0], own, parts[1]].join("/");
  }
});

function used(given: Given) {
  return usedBy(releaseOfBundle(aReleaseBundle(given)));
}
