/** The CRDs of Flux's kinds on a real API server: what Flux accepts is accepted, what it rejects is rejected. */
import assert from "node:assert/strict";
import { fluxCrds } from "@flotilla/shared/flux/crd";
import { test } from "vitest";
import { fluxFormsApply } from "../flux-forms/apply.ts";
import { startCrdPlane } from "./crd-plane.ts";
import { type ShownKind, shownKinds } from "./flux-kinds.ts";
import { notificationCases } from "./notification-rules.ts";
import { helmReleaseCases } from "./release-rules.ts";
import { sourceCases } from "./source-rules.ts";

const namespace = "flux-forms";

const { api, kubectl, succeed, conditionsOf, schemaOf } = await startCrdPlane(
  "flotilla-flux-crds",
  fluxCrds().map(({ metadata }) => metadata.name),
);
await succeed("kubectl", ["create", "namespace", namespace]);

interface CreateOptions {
  readonly name: string;
  readonly isDryRun: boolean;
}

async function create(
  { apiVersion, kind, resource }: ShownKind,
  spec: unknown,
  { name, isDryRun }: CreateOptions = { name: "tried", isDryRun: true },
) {
  return await api.call(
    "POST",
    `/apis/${apiVersion}/namespaces/${namespace}/${resource}${isDryRun ? "?dryRun=All" : ""}`,
    { apiVersion, kind, metadata: { name }, ...(spec !== undefined && { spec }) },
  );
}

test("the API server accepts the schemas, and enforces them", async () => {
  for (const { metadata, spec } of fluxCrds()) {
    assert.deepEqual(
      await conditionsOf(metadata.name),
      { Established: "True", NamesAccepted: "True" },
      metadata.name,
    );
    assert.deepEqual(await schemaOf(metadata.name), spec.versions[0]?.schema);
  }
});

for (const { kind, what, fields, rejected } of [
  ...helmReleaseCases,
  ...sourceCases,
  ...notificationCases,
]) {
  test(`a ${kind} with ${what} is ${rejected === undefined ? "accepted" : "rejected"}`, async () => {
    const shown = shownKinds.find((each) => each.kind === kind);
    assert.ok(shown !== undefined);

    const { status, body } = await create(shown, { ...shown.spec, ...fields });

    assert.equal(status, rejected === undefined ? 201 : 422, body);
    if (rejected !== undefined) assert.match(JSON.parse(body).message, rejected);
  });
}

for (const shown of shownKinds) {
  const { resource, shortName, kind, spec, defaults, hasStatus, header, row } = shown;

  test(`a new ${kind} has the defaults of Flux`, async () => {
    const { status, body } = await create(shown, spec, { name: "shown", isDryRun: false });

    assert.equal(status, 201, body);
    const object = JSON.parse(body);
    assert.deepEqual(object.spec, { ...spec, ...defaults });
    assert.deepEqual(object.status, hasStatus ? { observedGeneration: -1 } : undefined);
  });

  test(`a ${kind} without a spec is accepted, as in Flux`, async () => {
    const { status, body } = await create(shown, undefined);

    assert.equal(status, 201, body);
  });

  test(`kubectl get ${shortName ?? resource} shows the columns of Flux`, async () => {
    if (hasStatus) await publishReady(resource);

    const table = await succeed("kubectl", [
      ...["get", shortName ?? resource, "shown", `--namespace=${namespace}`],
    ]);

    const [head = "", line = ""] = table.split("\n");
    assert.match(head, header);
    assert.match(line, row);
  });

  test(`a ${kind} keeps a field of a newer version`, async () => {
    const novel = { deep: [1] };

    const { status, body } = await create(shown, { ...spec, novel });

    assert.equal(status, 201, body);
    assert.deepEqual(JSON.parse(body).spec.novel, novel);
  });
}

async function publishReady(resource: string): Promise<void> {
  const ready = {
    type: "Ready",
    status: "True",
    reason: "Succeeded",
    message: "fetched",
    lastTransitionTime: "2026-03-01T10:00:00Z",
    observedGeneration: 1,
  };
  const patch = { status: { observedGeneration: 1, conditions: [ready] } };
  await succeed("kubectl", [
    ...["patch", resource, "shown", `--namespace=${namespace}`, "--subresource=status"],
    ...["--type=merge", `--patch=${JSON.stringify(patch)}`],
  ]);
}

test("a condition without a reason is rejected, as in Flux", async () => {
  const patch = { status: { conditions: [{ type: "Ready", status: "True" }] } };

  const { code, stderr } = await kubectl([
    ...["patch", "hr", "shown", `--namespace=${namespace}`, "--subresource=status"],
    ...["--type=merge", `--patch=${JSON.stringify(patch)}`],
  ]);

  assert.equal(code, 1);
  assert.match(stderr, /status\.conditions\[0\]\.reason: Required value/);
});

for (const [category, kinds] of [
  ["fluxcd-appliers", ["HelmRelease"]],
  ["fluxcd-sources", ["Bucket", "GitRepository", "HelmChart", "HelmRepository", "OCIRepository"]],
  ["fluxcd-notifications", ["Alert", "Provider", "Receiver"]],
] as const) {
  test(`the category ${category} has the kinds of Flux`, async () => {
    const table = await succeed("kubectl", [
      ...["api-resources", `--categories=${category},fluxcd,all`, "--no-headers"],
    ]);

    const found = table
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).at(-1));
    assert.deepEqual(found.sort(), [...kinds]);
  });
}

await fluxFormsApply(kubectl);

// Last, because without the behaviour that it tests it would delete the objects of the other tests.
test("uninstalling the chart leaves the CRDs and the objects", async () => {
  await succeed("helm", ["uninstall", "flotilla-flux-crds"]);

  const names = await succeed("kubectl", ["get", "hr", `--namespace=${namespace}`, "-o", "name"]);
  assert.match(names, /helmrelease\.helm\.toolkit\.fluxcd\.io\/lighthouse/);
});
