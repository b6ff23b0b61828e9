/**
 * A webhook that has side effects, so that the API server refuses every dry run of what it is for. The API server takes none since
 * Kubernetes 1.22, but serves those that were created before: it is written as such a one is stored.
 */
import { readPorts } from "@flotilla/local/control-plane";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { configMaps } from "@flotilla/shared/kube/objects";
import { vi } from "vitest";
import type { ClusterClient } from "../harness/cluster-client.ts";
import type { PlaneAccess } from "../harness/control-planes.ts";
import { storeInEtcd } from "../harness/etcd-snapshot.ts";
import { hangMs } from "../harness/hang.ts";

/** For ConfigMaps and Deployments of a namespace that exists. Nothing answers at its address, which rejects nothing but dry runs. */
export async function refuseDryRuns(
  { plane, client }: { readonly plane: PlaneAccess; readonly client: ClusterClient },
  namespace: string,
): Promise<void> {
  const port = (await readPorts(plane.dir))?.etcd;
  if (port === undefined) throw new Error(`${plane.dir} names no port of etcd`);
  const name = "audit";
  await storeInEtcd({ pkiDir: plane.pki.dir, port }, `validatingwebhookconfigurations/${name}`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: {
      ...{ name, uid: "5e5d1f0a-0000-4000-8000-000000000001" },
      creationTimestamp: "2021-01-01T00:00:00Z",
    },
    webhooks: [
      {
        name: "audit.example.com",
        clientConfig: { url: "https://127.0.0.1:1/" },
        rules: [
          {
            ...{ apiGroups: ["", "apps"], apiVersions: ["v1"] },
            ...{ resources: ["configmaps", "deployments"], operations: ["*"], scope: "*" },
          },
        ],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        objectSelector: {},
        ...{ failurePolicy: "Ignore", matchPolicy: "Equivalent" },
        ...{ sideEffects: "Some", timeoutSeconds: 1, admissionReviewVersions: ["v1"] },
      },
    ],
  });
  await vi.waitFor(
    async () => {
      if (!(await isRefused(client, namespace))) throw new Error("dry runs are not refused yet");
    },
    { timeout: hangMs, interval: 50 },
  );
}

async function isRefused(client: ClusterClient, namespace: string): Promise<boolean> {
  try {
    const object = { metadata: { namespace, name: "tried" } };
    await client.create(configMaps, object, { dryRun: true });
    return false;
  } catch (thrown) {
    if (!(thrown instanceof KubeStatusError)) throw thrown;
    return true;
  }
}
