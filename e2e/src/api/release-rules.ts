/** Specs of HelmReleases that Flux accepts and that it rejects. */
import { cases, type FluxCase, long, ref } from "./flux-case.ts";

/** A HelmRelease with a template of a chart. */
const template = (fields: Readonly<Record<string, unknown>>) => ({
  chartRef: undefined,
  chart: { spec: { chart: "web", sourceRef: { kind: "GitRepository", name: "apps" }, ...fields } },
});

export const helmReleaseCases: readonly FluxCase[] = cases("HelmRelease", [
  ["all durations in hours", { interval: "1h30m", timeout: "1.5h", install: { timeout: "2h" } }],
  ["values that are no object", { values: ["a", 1] }],
  ["values that are null", { values: null }],
  ["unlimited history and retries", { maxHistory: -1, install: { remediation: { retries: -1 } } }],
  ["an ExternalArtifact", { chartRef: { kind: "ExternalArtifact", name: "built" } }],
  ["the deprecated skipCRDs", { install: { skipCRDs: true } }],
  [
    "many post-renderers",
    { postRenderers: Array.from({ length: 100 }, () => ({ kustomize: {} })) },
  ],
  [
    "a path with indexes",
    { valuesFrom: [{ kind: "Secret", name: "s", targetPath: "a\\.b[10].c" }] },
  ],
  ["a template", template({ valuesFiles: ["a.yaml"], verify: {}, interval: "1h" })],
  ["a ConfigMap for another cluster", { kubeConfig: { configMapRef: ref } }],
  ["a retry strategy", { install: { strategy: { name: "RetryOnFailure", retryInterval: "1h" } } }],
  ["targets", { targets: [{ clusterSelector: {}, helm: { values: { a: 1 } } }] }],
  ["no interval", { interval: undefined }, /spec\.interval: Required value/],
  ["an interval in days", { interval: "1d" }, /spec\.interval: Invalid value: "1d"/],
  ["an interval without a unit", { interval: "30" }, /spec\.interval: Invalid value/],
  ["neither chart nor chartRef", { chartRef: undefined }, /set exactly one of chart and chartRef/],
  [
    "both chart and chartRef",
    { ...template({}), chartRef: { kind: "HelmChart", name: "web" } },
    /set exactly one of chart and chartRef/,
  ],
  ["a chart without a name", template({ chart: "" }), /spec\.chart\.spec\.chart: Invalid value/],
  ["a chart with a long name", template({ chart: long(2049) }), /may not be more than 2048/],
  ["a template without a source", template({ sourceRef: undefined }), /sourceRef: Required value/],
  [
    "a source of an unknown kind",
    template({ sourceRef: { kind: "OCIRepository", name: "a" } }),
    /sourceRef\.kind: Unsupported value: "OCIRepository"/,
  ],
  ["a source without a kind", template({ sourceRef: ref }), /sourceRef\.kind: Required value/],
  [
    "a source of a namespace with a long name",
    template({ sourceRef: { kind: "Bucket", name: "a", namespace: long(64) } }),
    /sourceRef\.namespace: .*63/,
  ],
  [
    "an unknown strategy",
    template({ reconcileStrategy: "Never" }),
    /reconcileStrategy: Unsupported/,
  ],
  ["an unknown verification", template({ verify: { provider: "gpg" } }), /provider: Unsupported/],
  [
    "a reference to an unknown kind",
    { chartRef: { kind: "HelmRepository", name: "a" } },
    /chartRef\.kind: Unsupported value/,
  ],
  ["a reference without a name", { chartRef: { kind: "HelmChart" } }, /chartRef\.name: Required/],
  ["a long release name", { releaseName: long(54) }, /spec\.releaseName: .*53/],
  ["an empty release name", { releaseName: "" }, /spec\.releaseName: .*at least 1/],
  ["a long target namespace", { targetNamespace: long(64) }, /spec\.targetNamespace: .*63/],
  ["an empty storage namespace", { storageNamespace: "" }, /spec\.storageNamespace: .*at least 1/],
  ["a long account name", { serviceAccountName: long(254) }, /spec\.serviceAccountName: .*253/],
  [
    "another cluster without a way",
    { kubeConfig: {} },
    /exactly one of secretRef and configMapRef/,
  ],
  [
    "another cluster in two ways",
    { kubeConfig: { secretRef: ref, configMapRef: ref } },
    /exactly one of secretRef and configMapRef/,
  ],
  ["a kubeconfig without a name", { kubeConfig: { secretRef: {} } }, /secretRef\.name: Required/],
  [
    "an interval for another strategy",
    { install: { strategy: { name: "RemediateOnFailure", retryInterval: "1m" } } },
    /spec\.install\.strategy: .*'RetryOnFailure' only/,
  ],
  [
    "the same for upgrades",
    { upgrade: { strategy: { name: "RemediateOnFailure", retryInterval: "1m" } } },
    /spec\.upgrade\.strategy: .*'RetryOnFailure' only/,
  ],
  ["a strategy without a name", { upgrade: { strategy: {} } }, /strategy\.name: Required value/],
  [
    "an unknown strategy of remediation",
    { upgrade: { remediation: { strategy: "wait" } } },
    /Unsupp/,
  ],
  [
    "a text for server-side apply",
    { install: { serverSideApply: "enabled" } },
    /must be .*boolean/,
  ],
  ["a Boolean for it in upgrades", { upgrade: { serverSideApply: true } }, /must be .*string/],
  ["an unknown policy for CRDs", { install: { crds: "Replace" } }, /install\.crds: Unsupported/],
  ["an unknown propagation", { uninstall: { deletionPropagation: "now" } }, /Unsupported value/],
  [
    "a change of name that is unknown",
    { upgrade: { chartNameChangeStrategy: "x" } },
    /Unsupported/,
  ],
  [
    "a filter without a name",
    { test: { filters: [{ exclude: true }] } },
    /filters\[0\]\.name: Req/,
  ],
  ["an unknown mode of drift", { driftDetection: { mode: "on" } }, /mode: Unsupported value/],
  ["a rule without paths", { driftDetection: { ignore: [{}] } }, /ignore\[0\]\.paths: Required/],
  ["a dependency without a name", { dependsOn: [{}] }, /dependsOn\[0\]\.name: Required value/],
  ["values of an unknown kind", { valuesFrom: [{ kind: "Pod", name: "a" }] }, /kind: Unsupported/],
  ["values without a name", { valuesFrom: [{ kind: "Secret" }] }, /name: Required value/],
  [
    "a key with a slash",
    { valuesFrom: [{ kind: "Secret", name: "a", valuesKey: "a/b" }] },
    /valuesKey: Invalid value: "a\/b"/,
  ],
  [
    "a path with a wrong index",
    { valuesFrom: [{ kind: "Secret", name: "a", targetPath: "a[123456]" }] },
    /targetPath: Invalid value/,
  ],
  [
    "a long path",
    { valuesFrom: [{ kind: "Secret", name: "a", targetPath: long(251) }] },
    /targetPath: .*250/,
  ],
  ["a patch without a patch", { postRenderers: [{ kustomize: { patches: [{}] } }] }, /patch: Requ/],
  ["an image without a name", { postRenderers: [{ kustomize: { images: [{}] } }] }, /name: Requ/],
  [
    "an unknown way to wait",
    { waitStrategy: { name: "sleep" } },
    /waitStrategy\.name: Unsupported/,
  ],
  [
    "a check without an expression",
    { healthCheckExprs: [{ apiVersion: "v1" }] },
    /current: Requir/,
  ],
]);
