/** The definition of a kind that stores null; before the objects of `manyKinds`. */
export const nullsDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: driftnulls.drift.example.com}
spec:
  group: drift.example.com
  scope: Cluster
  names: {kind: DriftNull, plural: driftnulls}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;

/** A chart of many kinds, written as charts are: with defaults left out, other forms of quantities, and fields that are null. */
export const manyKinds: Readonly<Record<string, string>> = {
  "config.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: config, creationTimestamp: null, annotations: {on: "yes"}}
data: {mode: calm, empty: ""}
binaryData: {raw: AAEC}
---
apiVersion: v1
kind: Secret
metadata: {name: secret}
type: Opaque
data: {a: YQ==}
stringData: {b: "1", c: ""}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: listed}}
`,
  "workloads.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 25%}}
  template:
    metadata: {labels: {app: web}, creationTimestamp: null}
    spec:
      serviceAccountName: web
      nodeSelector: null
      securityContext: {}
      volumes: [{name: tmp, emptyDir: {}}, {name: config, configMap: {name: config}}]
      initContainers: [{name: init, image: example.com/init}]
      containers:
        - name: main
          image: example.com/web:1
          ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}]
          env: [{name: EMPTY, value: ""}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
          resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: 0.5, memory: "1e3"}}
          livenessProbe: {httpGet: {path: /, port: 80}}
          volumeMounts: [{name: tmp, mountPath: /tmp}]
status: {}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: example.com/db}]}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node}
spec:
  selector: {matchLabels: {app: node}}
  template:
    metadata: {labels: {app: node}}
    spec: {hostNetwork: true, containers: [{name: main, image: example.com/node, ports: [{containerPort: 90}]}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/once}]}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: main, image: example.com/once}]}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`,
  "network.yaml": `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80, nodePort: null}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {}, ingress: [{}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
`,
  "cluster.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: drift-many}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: drift-many}
subjects: [{kind: ServiceAccount, name: web, namespace: "{{ .Release.Namespace }}"}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: drift-many}
value: 5
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: drift-many}
webhooks:
  - name: drift.example.com
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Ignore
    clientConfig: {service: {name: web, namespace: "{{ .Release.Namespace }}"}}
    rules: [{apiGroups: [drift.example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: driftthings.drift.example.com}
spec:
  group: drift.example.com
  scope: Namespaced
  names: {kind: DriftThing, plural: driftthings}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object}}}}
status: {conditions: [], acceptedNames: {kind: "", plural: ""}, storedVersions: []}
`,
  "nulls.yaml": `apiVersion: drift.example.com/v1
kind: DriftNull
metadata: {name: nulls, namespace: elsewhere}
spec: {limit: null, rules: [{match: null}, {match: all, limit: null}]}
`,
};
