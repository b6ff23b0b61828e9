/** What the runner reads from the API server for a pod: Secrets and ConfigMaps that it refers to, and tokens of its account. */

import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import type { ApiClient } from "../control-plane/index.ts";
import { localErrors } from "../errors.ts";
import type { Sources } from "./container.ts";
import type { Pod } from "./resources.ts";
import type { TokenRequest } from "./volumes.ts";

/** Reads everything that the pod refers to. */
export async function readSources(rest: KubeRest, pod: Pod): Promise<Sources> {
  const namespace = pod.metadata.namespace ?? "";
  const names = referencesOf(pod);
  const [secretData, configMapData] = await Promise.all([
    readAll(names.secrets, async (name) => {
      const secret = await rest.get(secrets, { namespace, name });
      return secret && decoded(secret.data ?? {});
    }),
    readAll(names.configMaps, async (name) => {
      const configMap = await rest.get(configMaps, { namespace, name });
      return configMap && (configMap.data ?? {});
    }),
  ]);
  return {
    secret: (name) => secretData.get(name),
    configMap: (name) => configMapData.get(name),
  };
}

type Data = Readonly<Record<string, string>>;

async function readAll(
  names: ReadonlySet<string>,
  read: (name: string) => Promise<Data | undefined>,
): Promise<ReadonlyMap<string, Data>> {
  const found = await Promise.all(
    [...names].map(async (name) => [name, await read(name)] as const),
  );
  return new Map(
    found.flatMap(([name, data]) => (data === undefined ? [] : [[name, data] as const])),
  );
}

function decoded(data: Data): Data {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );
}

/** The names of the objects that the environment and the volumes of a pod refer to. Pure. */
export function referencesOf({ spec }: Pod): {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
} {
  const secretNames = new Set<string | undefined>();
  const configMapNames = new Set<string | undefined>();
  for (const { valueFrom } of (spec?.containers ?? []).flatMap(({ env = [] }) => env)) {
    secretNames.add(valueFrom?.secretKeyRef?.name);
    configMapNames.add(valueFrom?.configMapKeyRef?.name);
  }
  for (const { secret, configMap, projected } of spec?.volumes ?? []) {
    secretNames.add(secret?.secretName);
    configMapNames.add(configMap?.name);
    for (const source of projected?.sources ?? []) {
      secretNames.add(source.secret?.name);
      configMapNames.add(source.configMap?.name);
    }
  }
  const named = (names: ReadonlySet<string | undefined>) =>
    new Set([...names].filter((name) => name !== undefined));
  return { secrets: named(secretNames), configMaps: named(configMapNames) };
}

/** Tokens of a pod's account, bound to the pod; each is asked for again when half of its life is over. */
export function podTokens(api: ApiClient, pod: Pod): (request: TokenRequest) => Promise<string> {
  const known = new Map<string, { readonly token: string; readonly renewAt: number }>();
  return async (request) => {
    const audience = request.audience ?? "";
    const before = known.get(audience);
    if (before !== undefined && performance.now() < before.renewAt) return before.token;
    const token = await requestToken(api, pod, request);
    known.set(audience, { token, renewAt: performance.now() + request.expirationSeconds * 500 });
    return token;
  };
}

async function requestToken(api: ApiClient, pod: Pod, request: TokenRequest): Promise<string> {
  const { namespace, name, uid } = pod.metadata;
  const account = pod.spec?.serviceAccountName ?? "default";
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const { status, body } = await api.call("POST", path, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {
      ...(request.audience !== undefined && { audiences: [request.audience] }),
      expirationSeconds: request.expirationSeconds,
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    },
  });
  if (status === 201)
    return (JSON.parse(body) as { readonly status: { readonly token: string } }).status.token;
  throw new AppError(
    localErrors.PROCESS_FAILED,
    `request a token of service account ${namespace}/${account}: HTTP status ${status}`,
  );
}
