/** A chart as people write them, for post-renderers. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

export const hookText = (
  name: string,
  events: string,
  deletion = "before-hook-creation",
): string => `apiVersion: v1
kind: ConfigMap
metadata: {${name}, annotations: {helm.sh/hook: "${events}", helm.sh/hook-delete-policy: ${deletion}}}
data: {events: "${events}"}
`;

/** With what kustomize rejects or changes by itself: hooks of one name, and, if it is wanted, a generated one; a list. */

/** With what Helm changes before a post-renderer gets it, and what kustomize changes, rejects or leaves out. */
export function wildChart(): Promise<ChartArchive> {
  return chartArchive({
    name: "wild",
    version: "1.0.0",
    crds: {
      "gadgets.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.tools.example.com}
spec:
  group: tools.example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`,
    },
    templates: {
      "folded.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: folded
data:
  expr: >
    sum(rate(requests_total[5m]))
      by (job)
    > 10
  note: >-
    Steps:
      - stop
      - start
    then check
  revision: "{{ .Release.Revision }} {{ .Release.IsUpgrade }}"
`,
      "list.yaml": `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: one}
  data: &shared
    colour: green
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: two}
  data: *shared
`,
      "app.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  annotations: &notes {example.com/note: shared}
spec:
  replicas: 0
  selector: {matchLabels: {app: app}}
  template:
    metadata:
      labels: {app: app}
      annotations: *notes
    spec:
      containers: [{name: main, image: "example.com/main:1.0"}]
`,
      "alias.yaml": `apiVersion: v1
kind: ConfigMap
data: &texts {note: alias}
metadata:
  name: alias
  annotations: *texts
`,
      "twice.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: twice
  labels:
    tier: front
    tier: back
`,
      "local.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: local
  annotations: {config.kubernetes.io/local-config: "true"}
`,
      "gadget.yaml":
        "apiVersion: tools.example.com/v1\nkind: Gadget\nmetadata: {name: gadget}\nspec: {on: yes}\n",
      "hook.yaml": hookText("name: wild-hook", "pre-install,pre-upgrade"),
    },
  });
}
