/** A chart of objects that others fill in, and of objects that Kubernetes removes once they have done their work. */

/** A placeholder of charts for the certificate of an authority: a line without anything. */
const placeholder = "Cg==";

/** For a name whose private key nobody has. */
const request =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1IQUNBUUF3RGpFTU1Bb0dBMVVFQXd3RGQyVmlNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRApRZ0FFVlNUQURnSWcwVHB3a1pyNHVRbWQyZGpwaldic01BdytpL2xweFJnKzdIQkhlWUhweUV2dXlwSkMyV0lBCjhSWWlsb3lTT0tTc3hVejZzRXAzanZKaTBLQUFNQW9HQ0NxR1NNNDlCQU1DQTBjQU1FUUNJRVlZY0oxanh6SCsKUEVlV25DemdKODdpK3M3SE9MWjQrblZGVFZtcWhlbDlBaUJ1QkY5aFFlYnBwY0pCL0dIaG0zNldPeXg0aDlVeAo5UC9mMkVOMFdra1M3Zz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

const pod = (name: string, restartPolicy: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec: {tolerations: [{key: drift, operator: Exists}], restartPolicy: ${restartPolicy}, terminationGracePeriodSeconds: 0, containers: [{name: main, image: example.com/main}]}
`;

/** `suspend`: it does not end. */
const job = (name: string, suspend: boolean) => `apiVersion: batch/v1
kind: Job
metadata: {name: ${name}}
spec:
  ttlSecondsAfterFinished: 0
  suspend: ${suspend}
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/main}]}}
`;

const signingRequest = (name: string) => `apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: ${name}}
spec: {signerName: drift.example.com/signer, usages: [client auth], request: ${request}}
`;

const token = (name: string, expiration: string) => `apiVersion: v1
kind: Secret
metadata: {name: ${name}, namespace: kube-system}
type: bootstrap.kubernetes.io/token
stringData: {expiration: "${expiration}", token-secret: 0123456789abcdef}
`;

/** The only one of each configuration. */
export const filledWebhook = {
  name: "filled.drift.example.com",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: "Ignore",
  clientConfig: { caBundle: placeholder, service: { name: "web", namespace: "default" } },
  rules: [
    {
      ...{ apiGroups: ["filled.drift.example.com"], apiVersions: ["v1"] },
      ...{ operations: ["CREATE"], resources: ["things"] },
    },
  ],
};

const webhooks = (kind: string) => `apiVersion: admissionregistration.k8s.io/v1
kind: ${kind}
metadata: {name: drift-filled}
webhooks: [${JSON.stringify(filledWebhook)}]
`;

/** Without replicas of the chart: they are null, or left out. */
const workload = (name: string, field: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  ${field}
  selector: {matchLabels: {app: ${name}}}
  template: {metadata: {labels: {app: ${name}}}, spec: {containers: [{name: main, image: example.com/main}]}}
`;

/** The controller that admits the pod removes them, and nobody can add them again. */
const gates = "[{name: example.com/quota}]";

export const filledObjects: Readonly<Record<string, string>> = {
  "roles.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: drift-all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {drift: "true"}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: drift-one, labels: {drift: "true"}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
`,
  "authorities.yaml": [
    ...["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"].map(webhooks),
    `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: filleds.filled.drift.example.com}
spec:
  group: filled.drift.example.com
  scope: Cluster
  names: {kind: Filled, plural: filleds}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {caBundle: ${placeholder}, service: {name: web, namespace: default}}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`,
    `apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.served.drift.example.com}
spec:
  group: served.drift.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 1
  caBundle: ${placeholder}
  service: {name: web, namespace: default}
`,
  ].join("---\n"),
  "scaled.yaml": ["replicas: null", "minReadySeconds: 0"]
    .map((field, index) => workload(`scaled-${index}`, field))
    .join("---\n"),
  // Its taints are a list that is replaced as a whole.
  "node.yaml": `apiVersion: v1
kind: Node
metadata: {name: drift-node}
spec: {taints: [{key: example.com/maintenance, effect: NoSchedule}]}
`,
  "gated.yaml": pod("gated", "Always").replace("spec: {", `spec: {schedulingGates: ${gates}, `),
  "removed.yaml": [
    ...[job("ended", false), job("waiting", true)],
    ...[pod("ended", "Never"), pod("running", "Always")],
    ...[signingRequest("drift-ended"), signingRequest("drift-pending")],
    token("bootstrap-token-00drft", "2020-01-01T00:00:00Z"),
    token("bootstrap-token-01drft", "2120-01-01T00:00:00Z"),
  ].join("---\n"),
};
