/**
 * Reads clusters through the client of @kubernetes/client-node: assertions on what is in a cluster do not depend on the
 * client that the product itself uses.
 */

import type { KubeObject, ObjectRef, Resource } from "@flotilla/shared/kube/objects";
import type {
  KubernetesObject,
  KubernetesObjectApi,
  RequestContext,
} from "@kubernetes/client-node";

export interface ClusterReader {
  /** `undefined` when there is no such object. */
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T | undefined>;
  list<T extends KubeObject>(
    resource: Resource<T>,
    options?: { readonly namespace?: string; readonly labelSelector?: string },
  ): Promise<readonly T[]>;
  /** The objects of all kinds that the API server lists. */
  listAll(): Promise<readonly KubeObject[]>;
}

/** `kubeconfig`: the path of the file; `context`: used instead of its current one. It connects with the first read. */
export function createClusterReader(kubeconfig: string, context?: string): ClusterReader {
  let connecting: ReturnType<typeof connect> | undefined;
  const connected = () => {
    connecting ??= connect(kubeconfig, context);
    return connecting;
  };

  async function listKind<T extends KubeObject>(
    apiVersion: string,
    kind: string,
    { namespace, labelSelector }: { readonly namespace?: string; readonly labelSelector?: string },
  ): Promise<readonly T[]> {
    const { objects } = await connected();
    const { items } = await objects.list(
      ...[apiVersion, kind, namespace, undefined, undefined, undefined, undefined, labelSelector],
    );
    // Objects of a list have neither.
    return items.map((item) => ({ ...asJson<T>(item), apiVersion, kind }));
  }

  return {
    async get<T extends KubeObject>(resource: Resource<T>, { namespace, name }: ObjectRef) {
      const { objects, isNotFound } = await connected();
      const apiVersion = apiVersionOf(resource);
      const metadata = { name, ...(namespace !== undefined && { namespace }) };
      try {
        return asJson<T>(await objects.read({ apiVersion, kind: resource.kind, metadata }));
      } catch (thrown) {
        if (isNotFound(thrown)) return undefined;
        throw thrown;
      }
    },
    list: (resource, options = {}) => listKind(apiVersionOf(resource), resource.kind, options),
    async listAll() {
      const { listableKinds } = await connected();
      const all: KubeObject[] = [];
      for (const { apiVersion, kind } of await listableKinds())
        all.push(...(await listKind(apiVersion, kind, {})));
      return all;
    },
  };
}

async function connect(kubeconfig: string, context: string | undefined) {
  // Takes a second, which files that read nothing do not spend.
  const { ApiException, ApisApi, CoreV1Api, CustomObjectsApi, KubeConfig, KubernetesObjectApi } =
    await import("@kubernetes/client-node");

  /** Keeps its connection: the client opens one for each request, and most of what a read costs is the handshake. */
  class ConnectedKubeConfig extends KubeConfig {
    #dispatcher: ReturnType<RequestContext["getDispatcher"]>;

    override async applySecurityAuthentication(context: RequestContext): Promise<void> {
      await super.applySecurityAuthentication(context);
      this.#dispatcher ??= context.getDispatcher();
      if (this.#dispatcher !== undefined) context.setDispatcher(this.#dispatcher);
    }
  }

  const config = new ConnectedKubeConfig();
  config.loadFromFile(kubeconfig);
  if (context !== undefined) config.setCurrentContext(context);
  const objects: KubernetesObjectApi = KubernetesObjectApi.makeApiClient(config);

  /** Each with the preferred version of its group. */
  async function listableKinds() {
    const custom = config.makeApiClient(CustomObjectsApi);
    const core = await config.makeApiClient(CoreV1Api).getAPIResources();
    const { groups } = await config.makeApiClient(ApisApi).getAPIVersions();
    const versions = groups.map(({ versions: [first], preferredVersion = first, name }) => ({
      group: name,
      version: preferredVersion?.version ?? "",
    }));
    const lists = await Promise.all(versions.map((each) => custom.getAPIResources(each)));
    return [core, ...lists].flatMap(({ groupVersion, resources }) =>
      resources
        .filter(({ verbs }) => verbs.includes("list"))
        .map(({ kind }) => ({ apiVersion: groupVersion, kind })),
    );
  }

  return {
    objects,
    listableKinds,
    isNotFound: (thrown: unknown) => thrown instanceof ApiException && thrown.code === 404,
  };
}

function apiVersionOf({ group, version }: Resource<KubeObject>): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The client makes `Date`s of some times; here they are strings, as in JSON. */
function asJson<T extends KubeObject>(object: KubernetesObject): T {
  return JSON.parse(JSON.stringify(object)) as T;
}
