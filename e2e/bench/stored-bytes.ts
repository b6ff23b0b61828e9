/** What one more cluster of a HelmOp costs etcd: what is stored of it, beside what is stored for all clusters once. */
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { helmOps } from "@flotilla/shared/api/resources.ts";
import {
  type BenchChart,
  type BenchFleet,
  type ChartValues,
  oneCluster,
  untilCount,
} from "./bench-fleet.ts";
import type { Figure } from "./figures.ts";

const barBytes = 4 * 1024;
const valuesBytes = 100 * 1024;

export async function storedBytes(bench: BenchFleet): Promise<readonly Figure[]> {
  const cases: readonly (readonly [what: string, chart: BenchChart, values: ChartValues])[] = [
    ["with no values", "deployment", {}],
    ["with 100 KB of values", "deployment", { filler: filler(valuesBytes) }],
    ["with a chart of 80 objects, 12 of them not ready", "large", {}],
  ];
  const figures: Figure[] = [];
  for (const [index, [what, chart, values]] of cases.entries()) {
    const name = `bytes-${index}`;
    await bench.createHelmOp(name, chart, [], values);
    await bench.ready(name);
    const before = await sizes(bench, name);
    await bench.fleet.hub.patch(
      helmOps,
      { namespace: workspaceNamespace, name },
      { type: "merge", body: { spec: { targets: oneCluster } } },
    );
    await untilCount(
      bench.helmOps,
      1,
      ({ metadata, status }) =>
        metadata.name === name &&
        (status?.resourceCounts?.desiredReady ?? 0) > 0 &&
        status?.summary?.waitApplied === undefined,
    );
    const after = await sizes(bench, name);
    const grown = [...after].map(
      ([kind, bytes]) => [kind, bytes - (before.get(kind) ?? 0)] as const,
    );
    figures.push({
      what: `etcd bytes for one more cluster of a HelmOp ${what}`,
      unit: "bytes",
      value: grown.reduce((sum, [, bytes]) => sum + bytes, 0),
      bar: barBytes,
      detail: grown.map(([kind, bytes]) => `${kind}: ${bytes}`).join(", "),
    });
  }
  return figures;
}

/** Objects as the API server gives them, which is how it stores them; those that are there. */
async function sizes(
  { fleet, deployments }: BenchFleet,
  name: string,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const house = clusterNamespaceName(workspaceNamespace, "cluster-1");
  const kinds = [
    ["helmops", workspaceNamespace],
    ["bundles", workspaceNamespace],
    ["bundledeployments", house],
  ] as const;
  for (const [plural, namespace] of kinds) {
    if (
      plural === "bundledeployments" &&
      deployments.store.get(`${namespace}/${name}`) === undefined
    )
      continue;
    const path = `fleet.cattle.io/v1alpha1/namespaces/${namespace}/${plural}/${name}`;
    const key = `/registry/fleet.cattle.io/${plural}/${namespace}/${name}`;
    found.set(plural, key.length + Buffer.byteLength(await fleet.hub.raw(`/apis/${path}`)));
  }
  return found;
}

/** Text that does not compress well, the same every time. */
function filler(bytes: number): string {
  let state = 1;
  return Array.from({ length: bytes }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(97 + (state % 26));
  }).join("");
}
