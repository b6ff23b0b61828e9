import assert from "node:assert/strict";
import { describe, test } from "vitest";
import {
  hasFailedToReplace,
  immutableRefusals,
  lacksKind,
  lacksMergeKey,
  refusedText,
  structuralRefusal,
} from "./refusals.ts";

/** As Helm 4.3.1 and a kube-apiserver 1.36.3 write it. */
const typed = (place: string, kind: string) =>
  `server-side apply failed for object ${place} ${kind}: failed to create typed patch object (${place}; ${kind}): `;
const web = typed("shop/web", "apps/v1, Kind=Deployment");
const env = `.spec.template.spec.containers[name="web"].env: duplicate entries for key [name="MODE"]`;

const conflicting = (place: string, kind: string) =>
  `conflict occurred while applying object ${place} ${kind}: `;

describe("a chart is refused for its structure", () => {
  const cases: readonly (readonly [string, string, string, string])[] = [
    [
      "by a variable that is set twice",
      `Error: ${web}${env}`,
      'Deployment shop/web spec.template.spec.containers[name="web"].env',
      "DuplicateKey",
    ],
    [
      "by two ports with one number",
      `Error: ${typed("shop/svc", "/v1, Kind=Service")}.spec.ports: duplicate entries for key [port=80,protocol="TCP"]`,
      "Service shop/svc spec.ports",
      "DuplicateKey",
    ],
    [
      "by a set with a value twice",
      `Error: ${typed("shop/cm", "/v1, Kind=ConfigMap")}.metadata.finalizers: duplicate entries for key [="a.com/x"]`,
      "ConfigMap shop/cm metadata.finalizers",
      "DuplicateKey",
    ],
    [
      "by an unknown field",
      `Error: ${web}.spec.template.spec.containers[name="web"].notYet: field not declared in schema`,
      'Deployment shop/web spec.template.spec.containers[name="web"].notYet',
      "UnknownField",
    ],
    [
      "by an unknown field of a kind that others define, without a namespace",
      `Error: ${typed("/w", "ex.com/v1, Kind=W")}.spec.zzz: field not declared in schema`,
      "W w spec.zzz",
      "UnknownField",
    ],
    [
      "by several fields of one object",
      `Error: ${web}errors:\n  ${env}\n  .spec.template.spec.hostAliases: duplicate entries for key [ip="1.1.1.1"]`,
      'Deployment shop/web spec.template.spec.containers[name="web"].env',
      "DuplicateKey",
    ],
    [
      "by two objects of an installation",
      `Error: ${web}${env}\n${typed("shop/b", "apps/v1, Kind=Deployment")}.spec.zzz: field not declared in schema`,
      'Deployment shop/web spec.template.spec.containers[name="web"].env',
      "DuplicateKey",
    ],
    [
      "by two objects of an upgrade",
      `Error: UPGRADE FAILED: ${web}${env} && ${typed("shop/b", "apps/v1, Kind=Deployment")}.spec.zzz: field not declared in schema`,
      'Deployment shop/web spec.template.spec.containers[name="web"].env',
      "DuplicateKey",
    ],
    [
      "by a new object of an upgrade",
      `Error: UPGRADE FAILED: failed to create resource: ${web}${env}`,
      'Deployment shop/web spec.template.spec.containers[name="web"].env',
      "DuplicateKey",
    ],
    [
      "by a definition in the folder crds",
      `Error: failed to install CRD crds/v.yaml: ${typed("/vs.ex.com", "apiextensions.k8s.io/v1, Kind=CustomResourceDefinition")}.spec.zzz: field not declared in schema`,
      "CustomResourceDefinition vs.ex.com spec.zzz",
      "UnknownField",
    ],
    [
      "by a hook without a name",
      "Error: failed pre-install: warning: Hook pre-install genhook/templates/x.yaml failed: server-side apply failed for object shop/ batch/v1, Kind=Job: resource name may not be empty",
      "a Job without a name metadata.generateName",
      "GenerateName",
    ],
    [
      "by what a cluster has added to an object",
      "Error: server-side apply failed for object shop/cm /v1, Kind=ConfigMap: metadata.managedFields must be nil",
      "ConfigMap shop/cm metadata.managedFields",
      "ServerField",
    ],
    [
      "by the UID that an object had in another cluster",
      `Error: ${conflicting("shop/cm", "/v1, Kind=ConfigMap")}Operation cannot be fulfilled on configmaps "cm": uid mismatch: the provided object specified uid 0d1c2f3a-0000-4000-8000-000000000000, and no existing object was found`,
      "ConfigMap shop/cm metadata.uid",
      "ServerField",
    ],
    [
      "by a default beside a strategy that does not allow it",
      "Error: UPGRADE FAILED: server-side apply failed for object shop/web apps/v1, Kind=Deployment: Deployment.apps \"web\" is invalid: spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
      "Deployment shop/web spec.strategy.rollingUpdate",
      "Defaulted",
    ],
    [
      "by a field that an autoscaler has written",
      `Error: UPGRADE FAILED: ${conflicting("shop/web", "apps/v1, Kind=Deployment")}Apply failed with 1 conflict: conflict with "kube-controller-manager" with subresource "scale": .spec.replicas`,
      "Deployment shop/web spec.replicas",
      "ControllerField",
    ],
    [
      "by fields that several controllers have written, of several objects",
      `Error: UPGRADE FAILED: ${conflicting("/shop-admin", "rbac.authorization.k8s.io/v1, Kind=ClusterRole")}Apply failed with 1 conflict: conflict with "clusterrole-aggregation-controller": .rules && ${conflicting("/hooks", "admissionregistration.k8s.io/v1, Kind=ValidatingWebhookConfiguration")}Apply failed with 3 conflicts: conflicts with "cert-manager-cainjector" using admissionregistration.k8s.io/v1:\n- .webhooks[name="a.example.com"].clientConfig.caBundle\n- .webhooks[name="b.example.com"].clientConfig.caBundle\nconflicts with "kube-controller-manager":\n- .metadata.annotations.a`,
      "ClusterRole shop-admin rules",
      "ControllerField",
    ],
    [
      "after what Helm has logged",
      `level=WARN msg="upgrade failed" error="x"\nError: UPGRADE FAILED: ${web}${env}\n`,
      'Deployment shop/web spec.template.spec.containers[name="web"].env',
      "DuplicateKey",
    ],
  ];
  test.each(cases)("%s", (_, stderr, where, reason) => {
    const found = structuralRefusal(stderr);
    assert.ok(found !== undefined);
    assert.equal(`${refusedText(found.object)} ${found.field}`, where);
    assert.equal(found.reason, reason);
  });
});

describe("a chart is not refused for its structure alone", () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      "by an object that has changed since",
      `Error: UPGRADE FAILED: ${conflicting("shop/cm", "/v1, Kind=ConfigMap")}Operation cannot be fulfilled on configmaps "cm": the object has been modified; please apply your changes to the latest version and try again`,
    ],
    ["by a value of another type", `Error: ${web}.data.a: expected string, got &value{Value:1}`],
    ["by one field of two", `Error: ${web}errors:\n  ${env}\n  .spec.a: expected string, got 1`],
    [
      "by one object of two",
      `Error: UPGRADE FAILED: ${web}${env} && server-side apply failed for object shop/b batch/v1, Kind=Job: Job.batch "b" is invalid: spec.template: Invalid value: {}: field is immutable`,
    ],
    [
      "by a hook that fails to be deleted",
      "Error: failed pre-install: resource name may not be empty",
    ],
    [
      "by a conflict with another manager",
      'Error: UPGRADE FAILED: conflict occurred while applying object shop/web apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas',
    ],
    [
      "by a conflict with a controller and with another manager",
      'Error: UPGRADE FAILED: conflict occurred while applying object shop/web apps/v1, Kind=Deployment: Apply failed with 2 conflicts: conflicts with "kube-controller-manager":\n- .spec.replicas\nconflicts with "kubectl-edit" using apps/v1:\n- .spec.paused',
    ],
    [
      "by a chart whose text says so",
      "Error: execution error at (x): duplicate entries for key [a]",
    ],
    ["by nothing that Helm has printed", ""],
  ];
  test.each(cases)("%s", (_, stderr) => {
    assert.equal(structuralRefusal(stderr), undefined);
  });
});

test("Helm has failed to replace an object", () => {
  const failed =
    'failed to replace object: Job.batch "once" is invalid: spec.selector: Required value';
  assert.equal(hasFailedToReplace(`Error: UPGRADE FAILED: ${failed}`), true);
  assert.equal(hasFailedToReplace(`Error: UPGRADE FAILED: cannot patch "a" && ${failed}`), true);
  assert.equal(hasFailedToReplace(`Error: UPGRADE FAILED: cannot patch "a": ${failed}`), false);
  assert.equal(hasFailedToReplace(`level=WARN msg="${failed}"`), false);
});

test("a list without its merge key is known by what Helm prints of an upgrade and of a rollback", () => {
  const failed = "failed to create patch: map: map[] does not contain declared merge key: name";
  const entry = "map[image:a && failed value:x]";
  for (const [expected, stderr] of [
    [true, `level=WARN msg="upgrade failed" error="x"\nError: UPGRADE FAILED: ${failed}\n`],
    [true, `Error: ${failed}`],
    [true, `Error: UPGRADE FAILED: cannot patch "a" && ${failed} && ${failed}`],
    [true, `Error: UPGRADE FAILED: ${failed.replace("map[]", entry)}`],
    [false, `Error: UPGRADE FAILED: cannot patch "a" with kind W: ${failed}`],
    [false, `level=WARN msg="${failed}"\nError: UPGRADE FAILED: x`],
  ] as const)
    assert.equal(lacksMergeKey(stderr), expected, stderr);
});

const applied = (place: string, kind: string) =>
  `server-side apply failed for object ${place} ${kind}: `;
const dump = `{"labels":{"a":"b"},"spec":{"args":["a && cannot patch \\"x\\"","y: Forbidden: z"]}}`;

describe("a change is refused", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      "of a Job's template",
      `${applied("shop/once", "batch/v1, Kind=Job")}Job.batch "once" is invalid: spec.template: Invalid value: ${dump}: field is immutable`,
      "Job shop/once spec.template",
    ],
    [
      "of a Deployment's selector, by a patch",
      `cannot patch "web" with kind Deployment: Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"web2"}}: field is immutable`,
      "Deployment web spec.selector",
    ],
    [
      "of a StatefulSet",
      `${applied("shop/st", "apps/v1, Kind=StatefulSet")}StatefulSet.apps "st" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`,
      "StatefulSet shop/st spec",
    ],
    [
      "of a Service's address",
      `${applied("shop/s", "/v1, Kind=Service")}Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`,
      "Service shop/s spec.clusterIPs[0]",
    ],
    [
      "of a ConfigMap that is immutable",
      `${applied("shop/immut", "/v1, Kind=ConfigMap")}ConfigMap "immut" is invalid: data: Forbidden: field is immutable when \`immutable\` is set`,
      "ConfigMap shop/immut data",
    ],
    [
      "of a Secret's type",
      `${applied("shop/sec", "/v1, Kind=Secret")}Secret "sec" is invalid: type: Invalid value: "a.com/b": field is immutable`,
      "Secret shop/sec type",
    ],
    [
      "of a claim",
      `${applied("shop/claim", "/v1, Kind=PersistentVolumeClaim")}PersistentVolumeClaim "claim" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n-  "ReadWriteOnce"\n`,
      "PersistentVolumeClaim shop/claim spec",
    ],
    [
      "of a role that is bound",
      `cannot patch "rb" with kind RoleBinding: RoleBinding.rbac.authorization.k8s.io "rb" is invalid: roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
      "RoleBinding rb roleRef",
    ],
    [
      "of a PriorityClass",
      `${applied("/high", "scheduling.k8s.io/v1, Kind=PriorityClass")}PriorityClass.scheduling.k8s.io "high" is invalid: value: Forbidden: may not be changed in an update.`,
      "PriorityClass high value",
    ],
    [
      "of a Pod",
      `${applied("shop/pod", "/v1, Kind=Pod")}Pod "pod" is invalid: spec: Forbidden: pod updates may not change fields other than \`spec.containers[*].image\`,\`spec.tolerations\`\n@@ -101,7 +101,7 @@\n`,
      "Pod shop/pod spec",
    ],
    [
      "of a kind that others define",
      `cannot patch "w" with kind W: W.ex.com "w" is invalid: spec: Invalid value: "object": a is immutable`,
      "W w spec",
    ],
  ];
  test.each(cases)("%s", (_, failure, expected) => {
    const found = immutableRefusals(`Error: UPGRADE FAILED: ${failure}`);
    assert.deepEqual(
      found?.map(({ object, field }) => `${refusedText(object)} ${field}`),
      [expected],
    );
  });

  test("of all objects in the order of Helm", () => {
    const all = cases.map(([, failure]) => failure).join(" && ");
    const found = immutableRefusals(`Error: UPGRADE FAILED: ${all}\n`);
    assert.deepEqual(
      found?.map(({ object, field }) => `${refusedText(object)} ${field}`),
      cases.map(([, , expected]) => expected),
    );
  });
});

describe("a change is not refused as one that cannot be made", () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      "by an invalid value whose text says so",
      `Error: UPGRADE FAILED: cannot patch "web" with kind Deployment: Deployment.apps "web" is invalid: spec.replicas: Invalid value: "field is immutable": must be greater than or equal to 0`,
    ],
    [
      "by one object of two",
      `Error: UPGRADE FAILED: cannot patch "a" with kind Job: Job.batch "a" is invalid: spec.template: Invalid value: {}: field is immutable && cannot patch "b" with kind Deployment: deployments.apps "b" is forbidden: x`,
    ],
    [
      "by an administrator's webhook",
      `Error: UPGRADE FAILED: cannot patch "b" with kind Pod: admission webhook "x" denied the request: b is immutable`,
    ],
  ];
  test.each(cases)("%s", (_, stderr) => {
    assert.equal(immutableRefusals(stderr), undefined);
  });
});

test("Helm says which kind the cluster does not have", () => {
  const unknown =
    'Error: unable to build kubernetes objects from release manifest: resource mapping not found for name: "a" namespace: "" from "": no matches for kind "Widget" in version "example.com/v1"';

  assert.equal(lacksKind(`level=WARN msg=x\n${unknown}\nensure CRDs are installed first\n`), true);
  assert.equal(lacksKind("Error: execution error at (a.yaml:1:1): set the region\n"), false);
});
