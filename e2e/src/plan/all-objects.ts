/** All objects of a cluster, read again and again: fast, and without the kinds that the cluster itself writes all the time. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";

const ownKinds: ReadonlySet<string> = new Set(["Lease", "Event", "Node"]);

interface Kind {
  readonly path: string;
  readonly kind: string;
}

export type ReadAll = () => Promise<readonly KubeObject[]>;

/** Kinds that are defined later are found as well. */
export function allObjectsOf(client: Pick<KubeRest, "raw">): ReadAll {
  const read = async <T>(path: string): Promise<T> => JSON.parse(await client.raw(path)) as T;

  async function kindsAt(path: string): Promise<readonly Kind[]> {
    const { resources } = await read<{
      readonly resources: readonly {
        readonly name: string;
        readonly kind: string;
        readonly verbs: readonly string[];
      }[];
    }>(path);
    return resources
      .filter(({ kind, verbs }) => verbs.includes("list") && !ownKinds.has(kind))
      .map(({ name, kind }) => ({ path: `${path}/${name}`, kind }));
  }

  return async function allObjects() {
    const { groups } = await read<{
      readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
    }>("/apis");
    const versions = groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`);
    const kinds = (await Promise.all(["/api/v1", ...versions].map(kindsAt))).flat();
    const lists = await Promise.all(
      kinds.map(async ({ path, kind }) => {
        const { items } = await read<{ readonly items: readonly KubeObject[] }>(path);
        return items.map((item) => ({ ...item, kind }));
      }),
    );
    return lists.flat();
  };
}
