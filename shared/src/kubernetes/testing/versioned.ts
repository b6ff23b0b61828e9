/** Objects of which only the version matters. */
import type { ConfigMap } from "../objects/index.ts";

export function object(
  name: string,
  version: number,
  extra: Partial<ConfigMap["metadata"]> = {},
): ConfigMap {
  const metadata = {
    name,
    namespace: "ns",
    uid: `${name}-1`,
    resourceVersion: String(version),
    ...extra,
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { version: String(version) } };
}

export function versionOf(found: ConfigMap | undefined): string | undefined {
  return found?.metadata.resourceVersion;
}
