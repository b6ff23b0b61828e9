import assert from "node:assert/strict";
import { test } from "vitest";
import { type KindDefinition, renderCrd } from "../../fleet/crd/index.ts";
import { fluxCrds, fluxKinds } from "./index.ts";

test("there is a CRD for each of Flux's kinds, with Flux's group, version and short name", () => {
  assert.deepEqual(
    fluxCrds().map(({ metadata, spec }) => [
      metadata.name,
      spec.versions.map(({ name }) => name).join(),
      spec.names.shortNames?.join() ?? "",
    ]),
    [
      ["helmreleases.helm.toolkit.fluxcd.io", "v2", "hr"],
      ["helmcharts.source.toolkit.fluxcd.io", "v1", "hc"],
      ["helmrepositories.source.toolkit.fluxcd.io", "v1", "helmrepo"],
      ["ocirepositories.source.toolkit.fluxcd.io", "v1", "ocirepo"],
      ["gitrepositories.source.toolkit.fluxcd.io", "v1", "gitrepo"],
      ["buckets.source.toolkit.fluxcd.io", "v1", ""],
      ["alerts.notification.toolkit.fluxcd.io", "v1beta3", ""],
      ["providers.notification.toolkit.fluxcd.io", "v1beta3", ""],
      ["receivers.notification.toolkit.fluxcd.io", "v1", ""],
    ],
  );
});

test("Alerts and Providers have no status", () => {
  const withoutStatus = fluxKinds
    .filter((kind: KindDefinition) => "spec" in kind && kind.status === undefined)
    .map(({ resource }) => resource.kind);

  assert.deepEqual(withoutStatus, ["Alert", "Provider"]);
});

for (const crd of fluxCrds()) {
  const { kind } = crd.spec.names;

  test(`no field of ${kind} is nullable, as in Flux, but those of targets and of rollouts`, () => {
    const [version] = crd.spec.versions;
    const { spec, status } = version?.schema.openAPIV3Schema.properties ?? {};
    const { targets: _, rolloutStrategy: ___, ...fluxFields } = spec?.properties ?? {};
    const { summary: __, ...statusFields } = status?.properties ?? {};

    assert.doesNotMatch(JSON.stringify([fluxFields, statusFields]), /"nullable":true/);
  });

  test(`uninstalling the chart keeps ${kind} and its objects`, () => {
    assert.equal(crd.metadata.annotations["helm.sh/resource-policy"], "keep");
  });

  test(`the CRD of ${kind} has no template syntax, so Helm and Flux apply it unchanged`, () => {
    assert.doesNotMatch(renderCrd(crd), /\{\{|\}\}|\$\{/);
    assert.equal(crd.metadata.annotations["kustomize.toolkit.fluxcd.io/substitute"], "disabled");
  });
}
