/**
 * A kubeconfig for the tools that the agent runs in a pod. client-go ignores the in-cluster configuration as soon as an
 * impersonation flag is set, and then calls localhost:8080.
 */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KubeConfig } from "@flotilla/shared/kube/client";

/**
 * Writes the file, with mode 0600, and returns its path. It names the file of the token, not the token, which the kubelet
 * replaces. `undefined`: the connection does not use the token of a pod.
 */
export async function writePodKubeconfig(
  dir: string,
  { server, caData, credentials }: KubeConfig,
): Promise<string | undefined> {
  if (credentials.kind !== "token-file") return undefined;
  const path = join(dir, "kubeconfig");
  const name = "pod";
  // JSON is YAML.
  const file = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: {
          server,
          ...(caData !== undefined && {
            "certificate-authority-data": Buffer.from(caData).toString("base64"),
          }),
        },
      },
    ],
    users: [{ name, user: { tokenFile: credentials.path } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  await writeFile(path, JSON.stringify(file), { mode: 0o600 });
  // The mode above does not change the mode of a file that exists.
  await chmod(path, 0o600);
  return path;
}
