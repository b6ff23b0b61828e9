/** Charts of registries are installed only with a signature of a trusted key: `spec.verify` of OCIRepositories and HelmCharts. */
import assert from "node:assert/strict";
import { startTestRegistry } from "@flotilla/local/testing";
import { helmCharts, ociRepositories } from "@flotilla/shared/flux";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import {
  type ArtifactTarget,
  createSigningKey,
  pushChartAs,
  signArtifact,
  signArtifactWithBundle,
} from "../harness/push-artifact.ts";
import { installedConfig } from "../harness/releases.ts";
import { currentCondition, messageOf } from "../harness/wait.ts";
import { startReleaseFleet } from "./release-fleet.ts";
import { artifactVersion, createSourceObjects, waitForRejection } from "./source-objects.ts";

const releases = await startReleaseFleet();
const { hub, local } = releases;
const registry = await startTestRegistry({ onTestFinished: afterAll });
const namespace = "signed";
await releases.createNamespace(namespace);
const sources = createSourceObjects(hub);
const [trusted, other] = [createSigningKey(), createSigningKey()];

const refOf = (name: string) => ({ namespace, name });
const targetOf = (repository: string): ArtifactTarget => ({ registry: registry.url, repository });

await sources.createSecret(refOf("trusted"), { "team.pub": trusted.publicPem });
await sources.createSecret(refOf("both"), {
  "other.pub": other.publicPem,
  "team.pub": trusted.publicPem,
});
await releases.createRepository(refOf("registry"), {
  ...{ type: "oci", url: `${registry.oci}/charts`, insecure: true },
});

async function push(name: string, version: string, tag = version): Promise<string> {
  return await pushChartAs(targetOf(`charts/${name}`), tag, await configChart(name, version));
}

const verifiedBy = (name: string) => ({ provider: "cosign" as const, secretRef: { name } });

async function isInstalled(name: string): Promise<boolean> {
  return (await installedConfig(local.client, name, namespace)) !== undefined;
}

function createOci(name: string, secret: string) {
  return sources.createOci(refOf(name), {
    ...{ url: `${registry.oci}/charts/${name}`, insecure: true, ref: { tag: "stable" } },
    verify: verifiedBy(secret),
  });
}

test("OCIRepository verify: a chart that one of the keys has signed is installed, and SourceVerified is True", async () => {
  const digest = await push("by-tag", "1.0.0", "stable");
  await signArtifact(targetOf("charts/by-tag"), digest, trusted);
  await createOci("by-tag", "both");
  await releases.create(refOf("by-tag"), {
    chartRef: { kind: "OCIRepository", name: "by-tag" },
  });

  await releases.ready(refOf("by-tag"), artifactVersion("1.0.0", digest));
  const source = await sources.waitFor(
    ociRepositories,
    refOf("by-tag"),
    "SourceVerified",
    "True",
    new RegExp(`^verified signature of revision stable@${digest}$`),
  );
  assert.equal(currentCondition(source, "SourceVerified")?.reason, "Succeeded");
});

test("OCIRepository verify: a chart that another key has signed is not installed until the Secret has that key", async () => {
  const digest = await push("wrong-key", "1.0.0", "stable");
  await signArtifact(targetOf("charts/wrong-key"), digest, other);
  await sources.createSecret(refOf("keys"), { "team.pub": trusted.publicPem });
  await createOci("wrong-key", "keys");
  await releases.create(refOf("wrong-key"), {
    chartRef: { kind: "OCIRepository", name: "wrong-key" },
  });

  const rejected = await sources.waitFor(
    ociRepositories,
    refOf("wrong-key"),
    "SourceVerified",
    "False",
    /^failed to verify the signature of revision stable@sha256:[0-9a-f]{64}: no matching signatures were found for oci:\/\/127.*; retrying at /,
  );
  assert.equal(currentCondition(rejected, "SourceVerified")?.reason, "VerificationError");
  assert.equal(currentCondition(rejected, "Ready")?.status, "False");
  assert.equal(rejected.status?.artifact, undefined);
  await waitForRejection(releases, refOf("wrong-key"), /no matching signatures were found/);
  assert.equal(await isInstalled("wrong-key"), false);

  await sources.patchSecret(refOf("keys"), { "other.pub": other.publicPem });
  await releases.ready(refOf("wrong-key"), artifactVersion("1.0.0", digest));
});

test("OCIRepository verify: an unsigned artifact under the tag does not replace the installed chart until it is signed", async () => {
  const target = targetOf("charts/replaced");
  const first = await push("replaced", "1.0.0", "stable");
  await signArtifactWithBundle(target, first, trusted);
  await createOci("replaced", "trusted");
  await releases.create(refOf("replaced"), {
    chartRef: { kind: "OCIRepository", name: "replaced" },
  });
  await releases.ready(refOf("replaced"), artifactVersion("1.0.0", first));

  const second = await push("replaced", "2.0.0", "stable");
  await sources.readAgain(ociRepositories, refOf("replaced"));
  await sources.waitFor(ociRepositories, refOf("replaced"), "SourceVerified", "False");
  const config = await installedConfig(local.client, "replaced", namespace);
  assert.equal(config?.data?.["version"], artifactVersion("1.0.0", first));

  await signArtifactWithBundle(target, second, trusted);
  await sources.readAgain(ociRepositories, refOf("replaced"));
  await releases.ready(refOf("replaced"), artifactVersion("2.0.0", second));
});

test("HelmChart verify: chart.spec.verify of a HelmRelease installs what a key has signed, and nothing else", async () => {
  await signArtifactWithBundle(targetOf("charts/chart"), await push("chart", "1.0.0"), trusted);
  await signArtifact(targetOf("charts/chart"), await push("chart", "1.1.0"), other);
  const chart = (version: string) => ({
    chart: {
      spec: {
        ...{ chart: "chart", reconcileStrategy: "ChartVersion" as const, interval: "1h", version },
        sourceRef: { kind: "HelmRepository" as const, name: "registry" },
        verify: verifiedBy("trusted"),
      },
    },
  });
  await releases.create(refOf("chart"), chart("1.0.0"));
  await releases.ready(refOf("chart"), "1.0.0");
  const generated = refOf(`${namespace}-chart`);
  const verified = await sources.waitFor(helmCharts, generated, "SourceVerified", "True");
  assert.equal(messageOf(verified, "SourceVerified"), "verified signature of version 1.0.0");

  await releases.create(refOf("rejected"), chart("1.1.0"));
  const rejected = await sources.waitFor(
    helmCharts,
    refOf(`${namespace}-rejected`),
    "SourceVerified",
    "False",
    /^failed to verify the signature of version 1\.1\.0: no matching signatures.*; retrying at /,
  );
  assert.equal(currentCondition(rejected, "BuildFailed")?.reason, "ChartVerificationError");
  await waitForRejection(
    releases,
    refOf("rejected"),
    /failed to verify the signature of version 1\.1\.0/,
  );
  assert.equal(await isInstalled("rejected"), false);
});
