/** Answers of the API server to dry runs, as a kube-apiserver 1.36.3 writes them. */
import assert from "node:assert/strict";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import { configMaps, type KubeObject, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { type Applied, type ApplyMethod, type DryRun, dryRunOf } from "./dry-run.ts";

const metadata = { namespace: "shop", name: "a" };
const desired: KubeObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata,
  ...{ data: { a: "2" } },
};
const live: KubeObject = { ...desired, ...{ data: { a: "1", other: "x" } } };
const method: ApplyMethod = {
  ...{ force: false, replaces: false, replacesRefused: false, mayUseClient: true },
};
const { signal } = new AbortController();

function answer(status: number, serverMessage: string, reason = ""): KubeStatusError {
  return new KubeStatusError(`patch configmaps shop/a: ${serverMessage}`, {
    ...{ status, reason, serverMessage },
  });
}

async function run(errors: readonly Error[], more: Partial<Applied> = {}): Promise<DryRun> {
  const rest = createMemoryApiServer();
  rest.put(configMaps, live);
  rest.failNext(...errors);
  const found = await dryRunOf(
    rest,
    { resource: configMaps, desired, live, method, ...more },
    signal,
  );
  if (!("planned" in found)) return found;
  const { uid: _, resourceVersion: __, ...others } = found.planned.metadata;
  return { ...found, planned: { ...found.planned, metadata: others } };
}

const conflictWith = (manager: string) =>
  answer(409, `Apply failed with 1 conflict: conflict with "${manager}" using v1: .spec.replicas`);
const immutable = answer(
  422,
  'Deployment.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"hunter2"}}: field is immutable',
  "Invalid",
);
const merged = { ...desired, ...{ data: { a: "2", other: "x" } } };

describe("a dry run", () => {
  const cases: readonly (readonly [string, Error, Partial<Applied>, DryRun])[] = [
    [
      "of a field that cannot be changed would fail, without its value",
      immutable,
      {},
      { kind: "rejected", why: "spec.selector: field is immutable" },
    ],
    [
      "of such a field replaces the object where a user wants that",
      immutable,
      { method: { ...method, replacesRefused: true } },
      { kind: "replaced", planned: merged },
    ],
    [
      "of such a field never replaces what has data",
      immutable,
      {
        method: { ...method, replacesRefused: true },
        desired: { ...desired, kind: "PersistentVolumeClaim" },
      },
      { kind: "rejected", why: "spec.selector: field is immutable" },
    ],
    [
      "of an invalid field names it, without its value",
      answer(
        422,
        'ConfigMap "a" is invalid: data[x]: Invalid value: "hunter2": a key must consist of',
        "Invalid",
      ),
      {},
      { kind: "rejected", why: "data[x]: the API server rejects it as invalid" },
    ],
    [
      "of a field of another manager would fail",
      conflictWith("kubectl"),
      {},
      {
        kind: "rejected",
        why: 'spec.replicas: managed by "kubectl", and Helm does not take fields from other managers',
      },
    ],
    [
      "of a field of a controller is applied by the client",
      conflictWith("kube-controller-manager"),
      {},
      { kind: "accepted", planned: merged },
    ],
    [
      "of a field of a controller would fail where a user has chosen the method",
      conflictWith("kube-controller-manager"),
      { method: { ...method, mayUseClient: false } },
      {
        kind: "rejected",
        why: 'spec.replicas: managed by "kube-controller-manager", and Helm does not take fields from other managers',
      },
    ],
    [
      "beside a webhook without dry runs is worked out, with a remark",
      answer(400, 'admission webhook "check.example.com" does not support dry run', "BadRequest"),
      {},
      { kind: "accepted", planned: merged, remark: "NotComparedByServer" },
    ],
    [
      "of an object with two entries of one key is worked out",
      answer(
        500,
        'failed to create typed patch object (shop/a; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="web"].env: duplicate entries for key [name="MODE"]',
      ),
      {},
      { kind: "accepted", planned: merged },
    ],
    [
      "in a namespace that does not exist is that",
      answer(404, 'namespaces "shop" not found', "NotFound"),
      { live: undefined },
      { kind: "no namespace" },
    ],
    [
      "without the right names it",
      answer(
        403,
        'configmaps "a" is forbidden: User "x" cannot patch resource "configmaps"',
        "Forbidden",
      ),
      {},
      {
        kind: "rejected",
        why: 'patch configmaps shop/a: configmaps "a" is forbidden: User "x" cannot patch resource "configmaps"',
      },
    ],
    [
      "that a webhook rejects has its sentence",
      answer(
        400,
        'admission webhook "check.example.com" denied the request: no owner',
        "BadRequest",
      ),
      {},
      {
        kind: "rejected",
        why: 'the API server rejects it: admission webhook "check.example.com" denied the request: no owner',
      },
    ],
    [
      "of a Secret never has the sentence of the API server",
      answer(400, "expected map, got &{hunter2}", "BadRequest"),
      { resource: secrets, desired: { ...desired, kind: "Secret" }, live: undefined },
      { kind: "rejected", why: "the API server rejects it" },
    ],
  ];
  for (const [name, error, more, expected] of cases)
    test(name, async () => assert.deepEqual(await run([error], more), expected));

  test("that says nothing of the object is an error", async () => {
    const busy = answer(429, "too many requests");

    await assert.rejects(run([busy]), busy);
  });

  test("sends fields without a value as Helm does, which a patch of the client leaves alone", async () => {
    const rest = createMemoryApiServer();
    rest.put(configMaps, live);
    rest.failNext(conflictWith("kube-controller-manager"));
    const sent: unknown[] = [];
    const recording: KubeRest = {
      ...rest,
      patch(resource, ref, patch, options) {
        sent.push(patch.body);
        return rest.patch(resource, ref, patch, options);
      },
    };
    const withNulls: KubeObject = { ...desired, ...{ immutable: null } };

    await dryRunOf(recording, { resource: configMaps, desired, withNulls, live, method }, signal);

    assert.deepEqual(sent, [withNulls, desired]);
  });

  test("is repeated if the object has changed meanwhile", async () => {
    const changed = answer(409, "the object has been modified", "Conflict");

    assert.equal((await run([changed, changed])).kind, "accepted");
    await assert.rejects(run([changed, changed, changed]), changed);
  });
});
