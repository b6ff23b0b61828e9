import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { controllerFieldsOf } from "./controller-fields.ts";

const certificate = Buffer.from("-----BEGIN CERTIFICATE-----\nAA==\n").toString("base64");
const placeholder = Buffer.from("\n").toString("base64");
const injected = { annotations: { "cert-manager.io/inject-ca-from": "ns/name" } };

function anObject(
  apiVersion: string,
  kind: string,
  fields: object,
  metadata: object = {},
): KubeObject {
  return { apiVersion, kind, metadata: { name: "web", ...metadata }, ...fields };
}

const crd = (caBundle: string | undefined, metadata?: object) =>
  anObject(
    ...(["apiextensions.k8s.io/v1", "CustomResourceDefinition"] as const),
    {
      spec: {
        conversion: { webhook: { clientConfig: { ...(caBundle !== undefined && { caBundle }) } } },
      },
    },
    metadata,
  );
const apiService = (caBundle: string, metadata?: object) =>
  anObject("apiregistration.k8s.io/v1", "APIService", { spec: { caBundle } }, metadata);
const rbac = "rbac.authorization.k8s.io/v1";
const crdBundle = "/spec/conversion/webhook/clientConfig/caBundle";

const rows: readonly (readonly [what: string, desired: KubeObject, fields: readonly string[]])[] = [
  [
    "rules of an aggregated ClusterRole",
    anObject(rbac, "ClusterRole", { aggregationRule: {}, rules: [] }),
    ["/rules"],
  ],
  ["no rules of another ClusterRole", anObject(rbac, "ClusterRole", { rules: [] }), []],
  [
    "no aggregationRule of another group",
    anObject("example.com/v1", "ClusterRole", { aggregationRule: {} }),
    [],
  ],
  ["a placeholder in a definition", crd(placeholder), [crdBundle]],
  ["an empty authority in a definition", crd(""), [crdBundle]],
  ["no certificate of the chart in a definition", crd(certificate), []],
  ["no authority that a definition does not have", crd(undefined), []],
  ["a certificate that cert-manager is asked to set", crd(certificate, injected), [crdBundle]],
  ["a placeholder in an APIService", apiService(placeholder), ["/spec/caBundle"]],
  ["no certificate of the chart in an APIService", apiService(certificate), []],
  [
    "the volume of a claim that names none",
    anObject("v1", "PersistentVolumeClaim", { spec: { volumeName: "" } }),
    ["/spec/volumeName"],
  ],
  [
    "no volume that a claim names",
    anObject("v1", "PersistentVolumeClaim", { spec: { volumeName: "disk" } }),
    [],
  ],
  [
    "the claim of a volume",
    anObject("v1", "PersistentVolume", { spec: { claimRef: { name: "data" } } }),
    ["/spec/claimRef"],
  ],
  [
    "the gates of a pod",
    anObject("v1", "Pod", { spec: { schedulingGates: [{ name: "example.com/quota" }] } }),
    ["/spec/schedulingGates"],
  ],
  [
    "the taints of a node",
    anObject("v1", "Node", { spec: { taints: [{ key: "example.com/maintenance" }] } }),
    ["/spec/taints"],
  ],
  ["no gates that a pod does not have", anObject("v1", "Pod", { spec: {} }), []],
  ["the holder of a Lease", anObject("coordination.k8s.io/v1", "Lease", { spec: {} }), ["/spec"]],
  ["the addresses of Endpoints", anObject("v1", "Endpoints", { subsets: [] }), ["/subsets"]],
  [
    "the token of an account",
    anObject("v1", "Secret", { type: "kubernetes.io/service-account-token", data: {} }),
    ["/data"],
  ],
  ["no data of another Secret", anObject("v1", "Secret", { type: "Opaque", data: {} }), []],
  [
    "the empty lists of a ServiceAccount",
    anObject("v1", "ServiceAccount", { secrets: [], imagePullSecrets: [{ name: "registry" }] }),
    ["/secrets"],
  ],
  [
    "what an object that was copied from a cluster has of its controllers",
    anObject(
      "apps/v1",
      "Deployment",
      {},
      {
        annotations: { "deployment.kubernetes.io/revision": "7", "example.com/revision": "7" },
      },
    ),
    ["/metadata/annotations/deployment.kubernetes.io~1revision"],
  ],
  ["nothing of a Deployment", anObject("apps/v1", "Deployment", { spec: { replicas: 1 } }), []],
];

describe("controllers write", () => {
  for (const [what, desired, fields] of rows)
    test(what, () => {
      assert.deepEqual(controllerFieldsOf(desired, desired), fields);
    });

  test("the authority of each webhook", () => {
    const desired = anObject("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", {
      webhooks: [{ clientConfig: {} }, { clientConfig: {} }],
    });

    assert.deepEqual(controllerFieldsOf(desired, desired), [
      "/webhooks/0/clientConfig/caBundle",
      "/webhooks/1/clientConfig/caBundle",
    ]);
    assert.deepEqual(controllerFieldsOf(desired, undefined), []);
  });
});
