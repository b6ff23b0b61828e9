/**
 * Decides gates named `smoke`: requests the `url` of their config, and passes the gate if the answer is a success, else fails it. It
 * needs the rights in rbac.yaml, and Node 24. `node main.ts [NAMESPACE]`
 */
import {
  AuthenticationV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  setHeaderOptions,
} from "@kubernetes/client-node";

/** What is read of a Gate. */
interface Gate extends KubernetesObject {
  readonly spec: {
    readonly type: string;
    readonly digest: string;
    readonly config?: { readonly url?: string };
  };
  readonly status?: {
    readonly decision?: object;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const namespace = process.argv[2] ?? "fleet-default";
const gates = { group: "flotilla.dev", version: "v1alpha1", plural: "gates", namespace };
const labelSelector = "flotilla.dev/gate=smoke";

const config = new KubeConfig();
config.loadFromDefault();
const custom = config.makeApiClient(CustomObjectsApi);
const review = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({
  body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
});
// The API server takes a decision only under the name of the user that makes the request.
const by = review.status?.userInfo?.username ?? "";

/** Requests what the gate says. A gate without `config.url` fails: nothing proves anything. */
async function smoke(url: string | undefined) {
  if (url === undefined) return { result: "Failed", message: "config has no url" };
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    return { result: ok ? "Passed" : "Failed", message: `HTTP status ${status}` };
  } catch (error) {
    return { result: "Failed", message: `no answer: ${String(error).slice(0, 200)}` };
  }
}

async function decide(gate: Gate): Promise<void> {
  const { spec, status, metadata: { name = "", uid } = {} } = gate;
  const isOver = status?.conditions?.some(
    (each) => each.type === "Passed" && each.status !== "Unknown",
  );
  if (spec.type !== "External" || status?.decision !== undefined || isOver) return;
  const { result, message } = await smoke(spec.config?.url);
  // With the UID, so that it is not another gate of that name, and the digest of what was tested.
  const body = {
    metadata: { uid },
    status: { decision: { result, by, digest: spec.digest, message } },
  };
  const merge = setHeaderOptions("Content-Type", "application/merge-patch+json");
  await custom.patchNamespacedCustomObjectStatus({ ...gates, name, body }, merge);
  console.log(`${name}: ${result}, ${message}`);
}

function tryToDecide(gate: Gate): void {
  // The informer lists again, and the gate expires if nobody decides it: it never passes by itself.
  decide(gate).catch((error: unknown) => console.error(`${gate.metadata?.name}: ${String(error)}`));
}

const informer = makeInformer<Gate>(
  config,
  `/apis/${gates.group}/${gates.version}/namespaces/${namespace}/${gates.plural}`,
  async () =>
    (await custom.listNamespacedCustomObject({
      ...gates,
      labelSelector,
    })) as KubernetesListObject<Gate>,
  labelSelector,
);
informer.on("add", tryToDecide);
informer.on("update", tryToDecide);
informer.on("error", () => setTimeout(() => void informer.start(), 5_000));
await informer.start();
console.log(`deciding gates named smoke in namespace ${namespace} as ${by}`);
