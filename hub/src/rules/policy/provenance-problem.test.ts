import assert from "node:assert/strict";
import type { BundleOrigin, Policy } from "@flotilla/shared/api";
import { releaseDigest } from "@flotilla/shared/content";
import { createPatterns } from "@flotilla/shared/regex";
import type { Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aBundle, aPolicy, aRelease } from "../../testing/index.ts";
import { buildContent } from "../content/build-content.ts";
import { releaseOfBundle } from "../frontend/planned-release.ts";
import { mergePolicies } from "./merge-policies.ts";
import { usedBy } from "./used.ts";
import { violationOf } from "./violation.ts";

const patterns = createPatterns();
const commit = "a".repeat(40);
const url = "https://git.example.com/charts";
const digest = `sha256:${"b".repeat(64)}`;
const gitPin = {
  ...{ kind: "git" as const, version: "1.2.9", url, commit, path: "web", build: {} },
} satisfies Pin;
const including = {
  ...gitPin,
  include: [{ url: `${url}-more`, commit, fromPath: "a", toPath: "b" }],
} satisfies Pin;
const ociPin = {
  ...{ kind: "oci" as const, version: "1.2.9", repository: "oci://r.example/web", tag: "1.2.9" },
  ...{ manifestDigest: digest, layerDigest: digest, layerSizeBytes: 1 },
} satisfies Pin;
const httpPin = { kind: "http" as const, version: "1.2.9", url: `${url}/web.tgz` } satisfies Pin;
const bucketPin = {
  ...{ kind: "bucket" as const, version: "1.2.9", endpoint: "s3.example", bucketName: "charts" },
  ...{ digest, path: "web", build: {} },
} satisfies Pin;

interface Given {
  readonly pin?: Pin;
  readonly origin?: Partial<BundleOrigin>;
  readonly provenance?: BundleOrigin["provenance"];
}

/** The Bundle of the HelmRelease `apps/web`. */
function aReleaseBundle({ pin = gitPin, origin = {}, provenance }: Given) {
  const helm = { repo: url, chart: "web", version: "1.2.9" };
  const bundle = aBundle({
    helm,
    helmOpOptions: {
      pins: [{ ...helm, pin }],
      origin: {
        ...{ kind: "HelmRelease", name: "web" },
        access: { kind: "GitRepository", url },
        ...(provenance !== undefined && { provenance }),
        ...origin,
      },
    },
  });
  return { ...bundle, metadata: { ...bundle.metadata, namespace: "apps" } };
}

function policyOf(helmOp: Policy["helmOp"], namespace = "apps") {
  const policy = aPolicy("guard", { helmOp });
  return mergePolicies([{ ...policy, metadata: { ...policy.metadata, namespace } }]);
}

function messageOf(helmOp: Policy["helmOp"], given: Given): string | undefined {
  return violationOf([policyOf(helmOp)], usedBy(releaseOfBundle(aReleaseBundle(given))), patterns)
    ?.message;
}

const main = { ref: "refs/heads/main" };
const signed = { ...main, verifiedBy: "apps/keys" };
const refs = { allowedGitRefs: ["refs/heads/main", "refs/tags/v[0-9.]+"] };
const verified = { requireVerification: true };

describe("a Policy rejects", () => {
  const rows: readonly (Given & {
    readonly what: string;
    readonly policy: Policy["helmOp"];
    readonly message: RegExp;
  })[] = [
    {
      what: "the commit of a fork, which a server offers at the address of the repository",
      policy: refs,
      provenance: [{ ref: "refs/pull/7/head" }],
      message:
        /^disallowed Git reference refs\/pull\/7\/head of GitRepository https:\/\/git\.example\.com\/charts: refs\/pull\/7\/head matches nothing in the allowed set \[/,
    },
    {
      what: "a commit that was named by itself",
      policy: refs,
      provenance: [{ ref: commit }],
      message: /^disallowed Git reference a{40} of GitRepository /,
    },
    {
      what: "a name that a pattern matches in part",
      policy: refs,
      provenance: [{ ref: "refs/heads/main-2" }],
      message: /^disallowed Git reference refs\/heads\/main-2 of /,
    },
    {
      what: "the repository whose index had the chart, after the address of its source was changed",
      policy: { allowedHelmRepoPatterns: ["https://git\\.example\\.com/.*"] },
      pin: httpPin,
      origin: { access: { kind: "HelmRepository", url } },
      provenance: [{ repository: "https://evil.example/charts", chart: "web" }],
      message:
        /^disallowed HelmRepository https:\/\/evil\.example\/charts, where the chart was found: /,
    },
    {
      what: "a repository that an earlier version has not written down",
      policy: { allowedHelmRepoPatterns: ["https://git\\.example\\.com/.*"] },
      pin: httpPin,
      origin: { access: { kind: "HelmRepository", url } },
      message: /^unknown HelmRepository of the chart: .* is not known: an earlier version/,
    },
    {
      what: "the chart as which it was found, after its HelmChart names another one",
      policy: { allowedChartPatterns: ["web"] },
      provenance: [{ ...main, chart: "evil" }],
      message: /^disallowed helm chart evil, where the chart was found: /,
    },
    {
      what: "a chart of a registry by its name",
      policy: { allowedChartPatterns: ["web"] },
      pin: ociPin,
      origin: { access: { kind: "HelmRepository" } },
      provenance: [{ chart: "evil" }],
      message: /^disallowed helm chart evil/,
    },
    {
      what: "a name of the chart that an earlier version has not written down",
      policy: { allowedChartPatterns: ["web"] },
      provenance: [main],
      message: /^unknown name of the chart: .* what its source calls this one is not known/,
    },
    {
      what: "the reference of an included repository",
      policy: refs,
      pin: including,
      provenance: [main, { ref: "refs/heads/evil" }],
      message:
        /^disallowed Git reference refs\/heads\/evil of GitRepository https:\/\/git\.example\.com\/charts-more: /,
    },
    {
      what: "an included repository of which none is known",
      policy: refs,
      pin: including,
      provenance: [main],
      message: /^unknown Git reference of GitRepository .*-more: .* is read again/,
    },
    {
      what: "a commit that an earlier version resolved, and says what happens next",
      policy: refs,
      message: /^unknown Git reference of GitRepository .*: .* an earlier version .* read again/,
    },
    {
      what: "a commit of a source without verification",
      policy: verified,
      provenance: [main],
      message: /^unverified GitRepository .*: .* set verify of the GitRepository \(Policy guard\)/,
    },
    {
      what: "an included repository without verification",
      policy: verified,
      pin: including,
      provenance: [signed, main],
      message: /^unverified GitRepository https:\/\/git\.example\.com\/charts-more: /,
    },
    {
      what: "a signature of which an earlier version has resolved the artifact",
      policy: verified,
      pin: ociPin,
      message: /^unverified GitRepository .*: .* is not known: an earlier version/,
    },
    {
      what: "an artifact of a registry without verification",
      policy: verified,
      pin: ociPin,
      origin: { access: { kind: "OCIRepository" } },
      provenance: [{}],
      message: /^unverified OCIRepository oci:\/\/r\.example\/web: /,
    },
    {
      what: "a Bucket, which has no signatures",
      policy: verified,
      pin: bucketPin,
      origin: { access: { kind: "Bucket", url: "https://s3.example/charts" } },
      provenance: [signed],
      message:
        /^unverified Bucket https:\/\/s3\.example\/charts: .* there is none for charts from there/,
    },
    {
      what: "a HelmRepository over HTTP, which has no signatures",
      policy: verified,
      pin: httpPin,
      origin: { access: { kind: "HelmRepository", url } },
      provenance: [signed],
      message: /^unverified HelmRepository .* there is none for charts from there/,
    },
    {
      what: "a dependency that agents fetch from a repository",
      policy: verified,
      origin: { repositories: ["https://charts.example.com"] },
      provenance: [signed],
      message: /^unverified dependency from https:\/\/charts\.example\.com\/: /,
    },
    {
      what: "a signature of a key in a Secret that it does not list",
      policy: { ...verified, allowedHelmSecretNames: ["platform-keys"] },
      provenance: [signed],
      message: /^disallowed Secret keys in verify of GitRepository .* keys is not in allowedHelm/,
    },
    {
      what: "a signature of a key in a Secret of another namespace with a listed name",
      policy: { ...verified, allowedHelmSecretNames: ["keys"] },
      provenance: [{ ...main, verifiedBy: "others/keys" }],
      message: /^disallowed Secret others\/keys in verify of /,
    },
  ];
  test.each(rows)("$what", ({ policy, message, ...given }) => {
    assert.match(messageOf(policy, given) ?? "", message);
  });

  test("a HelmOp and a Bundle by hand where it requires verification", () => {
    const found = violationOf([policyOf(verified)], usedBy(aRelease()), patterns);
    assert.match(found?.message ?? "", /^unverified HelmOp .* use a HelmRelease with/);
  });

  test("what only the Policy of the other namespace allows", () => {
    const judging = [policyOf({ allowedGitRefs: [".*"] }), policyOf(refs, "fleet-local")];
    const bundle = aReleaseBundle({ provenance: [{ ref: "refs/heads/dev" }] });
    assert.match(
      violationOf(judging, usedBy(releaseOfBundle(bundle)), patterns)?.message ?? "",
      /\(Policy fleet-local\/guard\)/,
    );
  });
});

describe("a Policy accepts", () => {
  const rows: readonly (Given & { readonly what: string; readonly policy: Policy["helmOp"] })[] = [
    { what: "a listed reference", policy: refs, provenance: [main] },
    {
      what: "a reference that a pattern matches",
      policy: refs,
      provenance: [{ ref: "refs/tags/v1.2.9" }],
    },
    {
      what: "a commit that it lists",
      policy: { allowedGitRefs: [commit] },
      provenance: [{ ref: commit }],
    },
    { what: "other kinds of sources when it limits references", policy: refs, pin: ociPin },
    { what: "a verified commit", policy: verified, provenance: [signed] },
    {
      what: "a verified artifact of a registry, with a key of a listed Secret",
      policy: { ...verified, allowedHelmSecretNames: ["keys"] },
      pin: ociPin,
      provenance: [{ verifiedBy: "apps/keys" }],
    },
    { what: "anything, when it says nothing of it", policy: {}, pin: including },
    {
      what: "a chart that was found in a listed repository, as a listed chart",
      policy: { allowedHelmRepoPatterns: [url], allowedChartPatterns: ["web"] },
      pin: httpPin,
      provenance: [{ repository: url, chart: "web" }],
    },
    {
      what: "an OCIRepository, which is the chart, when it limits charts",
      policy: { allowedChartPatterns: ["web"] },
      pin: ociPin,
      origin: { access: { kind: "OCIRepository" } },
    },
  ];
  test.each(rows)("$what", ({ policy, ...given }) => {
    assert.equal(messageOf(policy, given), undefined);
  });
});

test("how a chart was resolved changes no content, so that no release is upgraded for it", () => {
  const contentOf = (given: Given) => {
    const { metadata, spec } = aReleaseBundle(given);
    const { origin } = spec.helmOpOptions ?? {};
    return buildContent({ bundleName: metadata.name, options: spec, pin: gitPin, origin });
  };

  assert.deepEqual(contentOf({ provenance: [signed] }), contentOf({}));
});

test("agents may fetch dependencies from the judged repositories alone, and no release is upgraded for it", () => {
  const contentOf = (pin: Pin, origin?: Partial<BundleOrigin>) => {
    const { metadata, spec } = aReleaseBundle({ pin, ...(origin && { origin }) });
    const { origin: signed } = spec.helmOpOptions ?? {};
    return buildContent({ bundleName: metadata.name, options: spec, pin, origin: signed });
  };
  const repositories = ["https://charts.example.com"];

  const content = contentOf(gitPin, { repositories });
  assert.deepEqual(content.access.repositories, repositories);
  assert.deepEqual(contentOf(gitPin).access.repositories, []);
  assert.equal(contentOf(ociPin).access.repositories, undefined);
  const { repositories: _, ...access } = content.access;
  assert.equal(releaseDigest(content, {}), releaseDigest({ ...content, access }, {}));
});
