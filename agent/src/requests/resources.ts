/** The resource tree of a release, as lines of JSON. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import { statusOf } from "../readiness/index.ts";
import type { AnswerSink } from "./open-requests.ts";
import type { RequestedRelease } from "./requested-release.ts";
import { resourceTree, type TreeDeps, type TreeNode } from "./resource-tree.ts";

const maxResources = 500;

/** A line for each object, parents before their children, and at last how many are left out. Throws REQUEST_FAILED. */
export async function writeResources(
  deps: TreeDeps,
  release: RequestedRelease,
  { write, signal }: AnswerSink,
): Promise<void> {
  let count = 0;
  for await (const node of resourceTree(deps, release, signal)) {
    count += 1;
    if (count <= maxResources) await write(`${JSON.stringify(resourceEntry(node))}\n`);
  }
  if (count > maxResources) await write(`${JSON.stringify({ more: count - maxResources })}\n`);
}

/** Pure. */
export function resourceEntry({ resource, apiVersion, kind, ref, object }: TreeNode) {
  const named = { apiVersion, kind, namespace: ref.namespace ?? "", name: ref.name };
  if (object === undefined) return { ...named, state: "missing", message: "it does not exist" };
  if (typeof object === "string") return { ...named, state: "unknown", message: object };
  const { uid, creationTimestamp, ownerReferences = [] } = object.metadata;
  const status = statusOf(resource?.group ?? "", kind, object);
  const parent = ownerReferences.find((owner) => owner.controller === true)?.uid;
  const containers = kind === "Pod" ? containersOf(object) : [];
  return {
    ...named,
    ...(uid !== undefined && { uid }),
    ...(parent !== undefined && { parent }),
    state: stateNames[status.kind],
    ...("message" in status && status.message !== "" && { message: status.message }),
    ...(creationTimestamp !== undefined && { createdAt: creationTimestamp }),
    ...(containers.length > 0 && { containers }),
  };
}

/** As in reports. */
const stateNames = {
  current: "ready",
  inProgress: "in-progress",
  failed: "failed",
  terminating: "terminating",
} as const;

const stateSchema = z.looseObject({
  reason: z.string().default(""),
  message: z.string().default(""),
});
const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string().default(""),
  ready: z.boolean().default(false),
  restartCount: z.int().default(0),
  state: z
    .looseObject({
      waiting: stateSchema.optional(),
      running: z.looseObject({}).optional(),
      terminated: stateSchema.optional(),
    })
    .default({}),
});
const podSchema = z.looseObject({
  status: z
    .looseObject({
      initContainerStatuses: z.array(containerSchema).default([]),
      containerStatuses: z.array(containerSchema).default([]),
    })
    .default({ initContainerStatuses: [], containerStatuses: [] }),
});

function containersOf(pod: KubeObject) {
  const { status } = podSchema.parse(pod);
  return [
    ...status.initContainerStatuses.map((each) => ({ ...containerEntry(each), init: true })),
    ...status.containerStatuses.map(containerEntry),
  ];
}

function containerEntry({
  name,
  image,
  ready,
  restartCount,
  state,
}: z.infer<typeof containerSchema>) {
  const { waiting, running, terminated } = state;
  const { reason = "", message = "" } = waiting ?? terminated ?? {};
  return {
    ...{ name, image, ready, restarts: restartCount },
    state: running !== undefined ? "running" : terminated !== undefined ? "terminated" : "waiting",
    ...(reason !== "" && { reason }),
    ...(message !== "" && { message }),
  };
}
