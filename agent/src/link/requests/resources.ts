/** The resource tree of a release, as lines of JSON. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import { statusOf } from "../../observe/index.ts";
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
    if (isOver(node)) continue;
    count += 1;
    if (count <= maxResources) await write(`${JSON.stringify(resourceEntry(node))}\n`);
  }
  if (count > maxResources) await write(`${JSON.stringify({ more: count - maxResources })}\n`);
}

/** A hook that does not exist because it has not run, or has succeeded and was deleted: nothing is missing. Pure. */
export function isOver({ object, hook }: TreeNode): boolean {
  return object === undefined && (hook?.phase ?? "Succeeded") === "Succeeded" && hook !== undefined;
}

/** Pure. */
export function resourceEntry({ resource, apiVersion, kind, ref, object, hook }: TreeNode) {
  const named = {
    apiVersion,
    kind,
    namespace: ref.namespace ?? "",
    name: ref.name,
    ...(hook !== undefined && { hook: { events: hook.events, weight: hook.weight } }),
  };
  if (object === undefined && hook?.phase === "Failed")
    return {
      ...named,
      state: "failed",
      message: `it failed, and does not exist any more: its hook-delete-policy${hook.deletePolicies.length === 0 ? "" : ` (${hook.deletePolicies.join(", ")})`}, or somebody else, has deleted it`,
    };
  if (object === undefined) return { ...named, state: "missing", message: "it does not exist" };
  if (typeof object === "string") return { ...named, state: "unknown", message: object };
  const { uid, creationTimestamp, ownerReferences = [] } = object.metadata;
  const status = statusOf(resource?.group ?? "", kind, object);
  const parent = ownerReferences.find((owner) => owner.controller === true)?.uid;
  const containers = kind === "Pod" ? containersOf(object) : [];
  const conditions = kind === "Pod" ? conditionsOf(object) : [];
  return {
    ...named,
    ...(uid !== undefined && { uid }),
    ...(parent !== undefined && { parent }),
    state: stateNames[status.kind],
    ...("message" in status && status.message !== "" && { message: status.message }),
    ...(creationTimestamp !== undefined && { createdAt: creationTimestamp }),
    ...(containers.length > 0 && { containers }),
    ...(conditions.length > 0 && { conditions }),
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

const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  lastTransitionTime: z.string().nullish(),
});
const conditionsSchema = z.looseObject({
  status: z.looseObject({ conditions: z.array(z.unknown()).catch([]) }).catch({ conditions: [] }),
});

/** As its scheduler and its kubelet have set them. */
function conditionsOf(pod: KubeObject) {
  return conditionsSchema.parse(pod).status.conditions.flatMap((each) => {
    const { data } = conditionSchema.safeParse(each);
    if (data === undefined) return [];
    const { type, status, reason, message, lastTransitionTime: since } = data;
    return [
      {
        type,
        status,
        ...(reason && { reason }),
        ...(message && { message }),
        ...(since && { since }),
      },
    ];
  });
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
    name,
    image,
    ready,
    restarts: restartCount,
    state: running !== undefined ? "running" : terminated !== undefined ? "terminated" : "waiting",
    ...(reason !== "" && { reason }),
    ...(message !== "" && { message }),
  };
}
