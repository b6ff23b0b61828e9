/**
 * Fields of built-in kinds that controllers of Kubernetes, or of certificates, write, although charts contain them: as a
 * placeholder, empty, or because the API requires them. They are neither compared nor corrected. Pure.
 *
 * Fields that a chart does not contain need no rule: a server-side apply leaves them. The API server itself keeps some that a chart
 * leaves empty, such as `clusterIP` of a Service. Sources: the API reference of Kubernetes, and the documentation of the
 * controllers.
 */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { isFields, pointerOf, valueAt } from "./json-pointer.ts";

type Segments = readonly (string | number)[];

interface ControllerField {
  readonly group: string;
  readonly kind: string;
  /** The fields of the desired and the live object. */
  readonly fieldsOf: (desired: KubeObject, live: KubeObject | undefined) => readonly Segments[];
}

/** Annotations by which a controller fills every `caBundle` of an object: cert-manager's and OpenShift's. */
const injectingAnnotations = [
  "cert-manager.io/inject-ca-from",
  "cert-manager.io/inject-ca-from-secret",
  "cert-manager.io/inject-apiserver-ca",
  "service.beta.openshift.io/inject-cabundle",
];

/** Annotations that controllers write themselves: charts have them that were made of objects of a cluster. */
const controllerAnnotations = [
  // deployment-controller.
  "deployment.kubernetes.io/revision",
  // daemonset-controller.
  "deprecated.daemonset.template.generation",
  // persistentvolume-binder, the scheduler.
  "pv.kubernetes.io/bind-completed",
  "pv.kubernetes.io/bound-by-controller",
  "volume.kubernetes.io/selected-node",
  "volume.kubernetes.io/storage-provisioner",
  "volume.beta.kubernetes.io/storage-provisioner",
  // endpoints-controller.
  "endpoints.kubernetes.io/last-change-trigger-time",
  // Leader election in ConfigMaps and Endpoints.
  "control-plane.alpha.kubernetes.io/leader",
];

const controllerFields: readonly ControllerField[] = [
  {
    // clusterrole-aggregation-controller: the rules of the roles that the selectors match.
    group: "rbac.authorization.k8s.io",
    kind: "ClusterRole",
    fieldsOf: (desired) => (isFields(valueAt(desired, ["aggregationRule"])) ? [["rules"]] : []),
  },
  {
    group: "apiextensions.k8s.io",
    kind: "CustomResourceDefinition",
    fieldsOf: (desired) => filled(desired, ["spec", "conversion", "webhook", "clientConfig"]),
  },
  {
    group: "apiregistration.k8s.io",
    kind: "APIService",
    fieldsOf: (desired) => filled(desired, ["spec"]),
  },
  // As in Fleet always: most of their authorities are made in the cluster.
  ...["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"].map((kind) => ({
    group: "admissionregistration.k8s.io",
    kind,
    fieldsOf: (_: KubeObject, live: KubeObject | undefined) => webhookBundles(live),
  })),
  {
    // persistentvolume-binder. The field cannot be changed, so "" would be rejected.
    group: "",
    kind: "PersistentVolumeClaim",
    fieldsOf: (desired) =>
      valueAt(desired, ["spec", "volumeName"]) === "" ? [["spec", "volumeName"]] : [],
  },
  {
    // persistentvolume-binder, with the UID and version of the claim.
    group: "",
    kind: "PersistentVolume",
    fieldsOf: (desired) =>
      isFields(valueAt(desired, ["spec", "claimRef"])) ? [["spec", "claimRef"]] : [],
  },
  {
    // Who admits the pod removes them. None can be added again.
    group: "",
    kind: "Pod",
    fieldsOf: (desired) =>
      Array.isArray(valueAt(desired, ["spec", "schedulingGates"]))
        ? [["spec", "schedulingGates"]]
        : [],
  },
  {
    // node-lifecycle-controller, and controllers of clouds. The list is one field.
    group: "",
    kind: "Node",
    fieldsOf: (desired) =>
      Array.isArray(valueAt(desired, ["spec", "taints"])) ? [["spec", "taints"]] : [],
  },
  {
    // Its holder.
    group: "coordination.k8s.io",
    kind: "Lease",
    fieldsOf: () => [["spec"]],
  },
  {
    // endpoints-controller, for a Service with a selector.
    group: "",
    kind: "Endpoints",
    fieldsOf: () => [["subsets"]],
  },
  {
    // token-controller: the token, the authority and the namespace of the account.
    group: "",
    kind: "Secret",
    fieldsOf: (desired) =>
      valueAt(desired, ["type"]) === "kubernetes.io/service-account-token" ? [["data"]] : [],
  },
  {
    // token-controller, and the registries that a platform adds to each account.
    group: "",
    kind: "ServiceAccount",
    fieldsOf: (desired) =>
      ["secrets", "imagePullSecrets"].flatMap((field) =>
        isEmptyList(valueAt(desired, [field])) ? [[field]] : [],
      ),
  },
];

/** JSON pointers of such fields. `live`: undefined if there is no such object. */
export function controllerFieldsOf(
  desired: KubeObject,
  live: KubeObject | undefined,
): readonly string[] {
  const { apiVersion = "", kind: ownKind } = desired;
  const ownGroup = apiVersion.includes("/") ? apiVersion.replace(/\/.*$/, "") : "";
  const { annotations } = desired.metadata;
  return [
    ...controllerFields
      .filter(({ group, kind }) => group === ownGroup && kind === ownKind)
      .flatMap(({ fieldsOf }) => fieldsOf(desired, live)),
    ...controllerAnnotations
      .filter((name) => annotations?.[name] !== undefined)
      .map((name) => ["metadata", "annotations", name]),
  ].map(pointerOf);
}

/** The `caBundle` at a place, where a controller sets it: it is asked to, or the chart has no certificate there. */
function filled(desired: KubeObject, place: readonly string[]): readonly Segments[] {
  const path = [...place, "caBundle"];
  const bundle = valueAt(desired, path);
  const { annotations = {} } = desired.metadata;
  const isInjected = injectingAnnotations.some((name) => annotations[name] !== undefined);
  return bundle !== undefined && (isInjected || !isCertificate(bundle)) ? [path] : [];
}

function isCertificate(bundle: unknown): boolean {
  return (
    typeof bundle === "string" &&
    Buffer.from(bundle, "base64").toString("latin1").includes("-----BEGIN CERTIFICATE-----")
  );
}

function webhookBundles(live: KubeObject | undefined): readonly Segments[] {
  const webhooks = valueAt(live, ["webhooks"]);
  if (!Array.isArray(webhooks)) return [];
  return webhooks.flatMap((webhook, index) =>
    isFields(webhook) ? [["webhooks", index, "clientConfig", "caBundle"]] : [],
  );
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
