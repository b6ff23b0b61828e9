/** The CRDs on a real API server: validation, storage, and columns. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { allCrds } from "@flotilla/shared/api/crd";
import { rolloutApiVersion } from "@flotilla/shared/api/rollout";
import { rolloutCrds } from "@flotilla/shared/api/rollout/crd";
import { test } from "vitest";
import { parseAllDocuments } from "yaml";
import { fleetFormsApply } from "../fleet-forms/apply.ts";
import { startCrdPlane } from "./crd-plane.ts";
import { documentedObjectsApply } from "./documented-objects.ts";
import { type PrintedObject, printedObjects } from "./printer-columns.ts";
import {
  accepted,
  helmOpRejections,
  policyFields,
  policyRejections,
  type Rejection,
  tokenRejections,
} from "./rejections.ts";
import { policyCases, rolloutCases, strategyCases } from "./rollout-rules.ts";

const fixtures = globSync("*.yaml", { cwd: join(import.meta.dirname, "fixtures") }).sort();
const group = "/apis/fleet.cattle.io/v1alpha1";
const crds = [...allCrds(), ...rolloutCrds()];

const { api, kubeconfig, kubectl, succeed, conditionsOf, schemaOf } = await startCrdPlane(
  "flotilla-crds",
  crds.map(({ metadata }) => metadata.name),
);
for (const name of ["fleet-default", "fleet-local"])
  await succeed("kubectl", ["create", "namespace", name]);

/** An object as these tests read it. */
interface SeenObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
}

/** `fields`: those beside its metadata. */
async function tryToCreate(kind: string, plural: string, fields: object) {
  return await api.call("POST", `${group}/namespaces/fleet-default/${plural}?dryRun=All`, {
    apiVersion: "fleet.cattle.io/v1alpha1",
    kind,
    metadata: { name: "tried" },
    ...fields,
  });
}

test("the API server serves all kinds and accepts their schemas", async () => {
  for (const { metadata } of crds) {
    assert.deepEqual(
      await conditionsOf(metadata.name),
      { Established: "True", NamesAccepted: "True" },
      metadata.name,
    );
  }
});

test("the API server enforces the CRDs", async () => {
  for (const { metadata, spec } of crds)
    assert.deepEqual(await schemaOf(metadata.name), spec.versions[0]?.schema);
});

for (const file of fixtures) {
  test(`the HelmOp in ${basename(file)} applies, and reads back as it was written`, async () => {
    const path = join(import.meta.dirname, "fixtures", file);
    await succeed("kubectl", ["apply", "-f", path]);

    for (const document of parseAllDocuments(await readFile(path, "utf8"))) {
      const written: SeenObject = document.toJS();
      if (written.kind !== "HelmOp") continue;
      const { name, namespace } = written.metadata;
      const text = await succeed("kubectl", [
        "get",
        "helmop",
        name,
        `--namespace=${namespace}`,
        "-o",
        "json",
      ]);

      assert.deepEqual(JSON.parse(text).spec, written.spec);
    }
  });
}

fleetFormsApply(kubectl, kubeconfig);
await documentedObjectsApply(kubectl);

test("large integers in values keep all digits", async () => {
  const text = await succeed("kubectl", [
    "get",
    "helmop",
    "wreck",
    "--namespace=fleet-default",
    "-o",
    "json",
  ]);

  for (const digits of [
    "9223372036854775807",
    "9007199254740993",
    "-9007199254740993",
    "9007199254740995",
  ]) {
    assert.match(text, new RegExp(`: ${digits},?\n`));
  }
});

test("a null in values, with which Helm removes a value, is stored", async () => {
  const values = { replicas: null, image: { tag: null } };

  const answer = await tryToCreate("HelmOp", "helmops", {
    spec: { helm: { repo: "oci://registry.example.org/charts/web", values } },
  });

  assert.deepEqual(JSON.parse(answer.body).spec.helm.values, values);
});

test("a HelmOp that is applied twice has not changed", async () => {
  const path = join(import.meta.dirname, "fixtures");

  const stdout = await succeed("kubectl", ["apply", "-f", path]);

  assert.deepEqual(stdout.match(/^helmop\S* (?!unchanged).*/gm), null);
});

for (const [kind, plural, rejections] of [
  ["HelmOp", "helmops", helmOpRejections],
  ["ClusterRegistrationToken", "clusterregistrationtokens", tokenRejections],
] as const satisfies readonly (readonly [string, string, readonly Rejection[]])[]) {
  for (const { what, spec, message } of rejections) {
    test(`a ${kind} with ${what} is rejected`, async () => {
      const answer = await tryToCreate(kind, plural, { spec });

      assert.equal(answer.status, 422, answer.body);
      assert.match(JSON.parse(answer.body).message, message);
    });
  }
}

for (const [what, spec] of accepted) {
  test(`a HelmOp with ${what} is accepted`, async () => {
    const answer = await tryToCreate("HelmOp", "helmops", { spec });

    assert.equal(answer.status, 201, answer.body);
  });
}

for (const { what, spec, message } of strategyCases) {
  test(`a strategy with ${what} is ${message === undefined ? "accepted" : "rejected"}`, async () => {
    const answer = await tryToCreate("HelmOp", "helmops", { spec: { rolloutStrategy: spec } });

    assert.equal(answer.status, message === undefined ? 201 : 422, answer.body);
    if (message !== undefined) assert.match(JSON.parse(answer.body).message, message);
  });
}

for (const [kind, plural, cases] of [
  ["BundleRollout", "bundlerollouts", rolloutCases],
  ["RolloutPolicy", "rolloutpolicies", policyCases],
] as const) {
  for (const { what, spec, message } of cases) {
    test(`a ${kind} with ${what} is ${message === undefined ? "accepted" : "rejected"}`, async () => {
      const path = `/apis/${rolloutApiVersion}/namespaces/fleet-default/${plural}?dryRun=All`;
      const metadata = { name: "tried" };

      const object = { apiVersion: rolloutApiVersion, kind, metadata, spec };
      const answer = await api.call("POST", path, object);

      assert.equal(answer.status, message === undefined ? 201 : 422, answer.body);
      if (message !== undefined) assert.match(JSON.parse(answer.body).message, message);
    });
  }
}

for (const { what, fields, message } of policyRejections) {
  test(`a Policy with ${what} is rejected`, async () => {
    const answer = await tryToCreate("Policy", "policies", fields);

    assert.equal(answer.status, 422, answer.body);
    assert.match(JSON.parse(answer.body).message, message);
  });
}

test("a Policy has its fields at the top level, and keeps unknown ones", async () => {
  const answer = await tryToCreate("Policy", "policies", policyFields);

  assert.equal(answer.status, 201, answer.body);
  const { apiVersion: _a, kind: _k, metadata: _m, ...fields } = JSON.parse(answer.body);
  assert.deepEqual(fields, policyFields);
});

test("an object without a spec gets an empty one", async () => {
  const answer = await api.call("POST", `${group}/namespaces/fleet-default/clusters?dryRun=All`, {
    apiVersion: "fleet.cattle.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "tried" },
  });

  assert.deepEqual(JSON.parse(answer.body).spec, {});
});

test("a status has one condition of each type", async () => {
  const twice = {
    status: {
      conditions: [
        { type: "Ready", status: "True" },
        { type: "Ready", status: "False" },
      ],
    },
  };

  const { code, stderr } = await kubectl([
    ...["patch", "helmop", "lighthouse", "--namespace=fleet-default", "--subresource=status"],
    ...["--type=merge", `--patch=${JSON.stringify(twice)}`],
  ]);

  assert.equal(code, 1);
  assert.match(stderr, /status\.conditions\[1\]: Duplicate value/);
});

for (const {
  resource,
  namespace,
  object,
  status,
  header,
  row,
} of printedObjects satisfies readonly PrintedObject[]) {
  test(`kubectl get ${resource} shows ${header.source.replaceAll(/\\s\+|[$^]/g, " ").trim()}`, async () => {
    await succeed("kubectl", ["apply", "-f", "-"], JSON.stringify(object));
    await succeed("kubectl", [
      ...[
        "patch",
        resource,
        object.metadata.name,
        `--namespace=${namespace}`,
        "--subresource=status",
      ],
      ...["--type=merge", `--patch=${JSON.stringify({ status })}`],
    ]);

    const table = await succeed("kubectl", [
      "get",
      resource,
      object.metadata.name,
      `--namespace=${namespace}`,
    ]);

    const [head = "", line = ""] = table.split("\n");
    assert.match(head, header);
    assert.match(line, row);
  });
}

test("HelmOps and BundleDeployments of all namespaces show the version that each cluster runs", async () => {
  const tables = await succeed("kubectl", ["get", "helmops,bundledeployments", "--all-namespaces"]);

  assert.match(tables, /NAMESPACE\s+NAME\s+REPO\s+CHART\s+VERSION/);
  assert.match(tables, /fleet-default\s+bundledeployment\S*\/shown\s+1\.4\.2/);
});

test("the category fleet finds every kind", async () => {
  const names = await succeed("kubectl", ["api-resources", "--categories=fleet", "-o", "name"]);

  assert.deepEqual(
    names.trim().split("\n").sort(),
    crds.map(({ metadata }) => metadata.name).sort(),
  );
});

// Last, because without the behaviour that it tests it would delete the objects of the other tests.
test("uninstalling the chart leaves the CRDs and the objects", async () => {
  await succeed("helm", ["uninstall", "flotilla-crds"]);

  const names = await succeed("kubectl", ["get", "helmops", "--all-namespaces", "-o", "name"]);
  assert.match(names, /helmop\.fleet\.cattle\.io\/lighthouse/);
});
