/** The resource tree of a release, from the lines that the agent sends. Pure. */
import { entriesOf } from "../api/index.ts";
import type { Tone } from "../state/index.ts";

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly state: string;
  readonly reason?: string;
  readonly message?: string;
  readonly init?: boolean;
}

/** A condition of a pod. */
export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  /** RFC 3339. */
  readonly since?: string;
}

/** What a hook of the chart is, and when Helm runs it. */
export interface HookMark {
  /** `pre-install`, `test` and so on. */
  readonly events: readonly string[];
  /** Those with a lower one run first. */
  readonly weight: number;
}

export interface ResourceNode {
  /** Its UID, or its name where it has none. */
  readonly id: string;
  /** The id of what has created it; absent: it is in the chart. */
  readonly parent?: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: string;
  readonly message?: string;
  readonly createdAt?: string;
  readonly containers?: readonly Container[];
  /** It is a hook, or was created by one. */
  readonly hook?: HookMark;
  /** The conditions of a pod; absent: of an agent that does not send them. */
  readonly conditions?: readonly PodCondition[];
}

export interface ResourceTree {
  readonly nodes: readonly ResourceNode[];
  /** How many objects are left out. */
  readonly more: number;
}

type Line = Omit<ResourceNode, "id"> & { readonly uid?: string; readonly more?: number };

export function parseResources(text: string): ResourceTree {
  const lines = entriesOf<Line>(text);
  const ids = new Set(lines.map(({ uid }) => uid));
  return {
    more: lines.reduce((sum, { more = 0 }) => sum + more, 0),
    nodes: lines
      .filter(({ more }) => more === undefined)
      .map(({ uid, parent, ...line }) => ({
        ...line,
        id: uid ?? `${line.apiVersion}/${line.kind}/${line.namespace}/${line.name}`,
        ...(parent !== undefined && ids.has(parent) && { parent }),
      })),
  };
}

/** What names an object in the address of the page, as kubectl has it: unlike its UID it stays when the object is replaced. */
export function addressOf({
  apiVersion,
  kind,
  namespace,
  name,
}: Pick<ResourceNode, "apiVersion" | "kind" | "namespace" | "name">): string {
  const [group = "", version] = apiVersion.split("/");
  const qualified = version === undefined ? kind : `${kind}.${group}`;
  return [qualified, ...(namespace === "" ? [] : [namespace]), name].join("/");
}

export function toneOf(state: string): Tone {
  switch (state) {
    case "ready":
      return "good";
    case "in-progress":
    case "terminating":
      return "busy";
    case "failed":
    case "missing":
      return "bad";
    default:
      return "off";
  }
}

/** The first that is not ready, deepest first: a pod says more than its Deployment. */
export function worstNode({ nodes }: ResourceTree): ResourceNode | undefined {
  const order = ["bad", "busy", "off"];
  return nodes
    .filter(({ state }) => state !== "ready")
    .toSorted(
      (one, other) =>
        order.indexOf(toneOf(one.state)) - order.indexOf(toneOf(other.state)) ||
        depthOf(other, nodes) - depthOf(one, nodes),
    )[0];
}

function depthOf({ parent }: ResourceNode, nodes: readonly ResourceNode[]): number {
  const above = nodes.find(({ id }) => id === parent);
  return above === undefined ? 0 : 1 + depthOf(above, nodes);
}

/** `hook pre-install, pre-upgrade` or `test`. */
export function hookWords({ events }: HookMark): string {
  return events.length === 1 && events[0] === "test" ? "test" : `hook ${events.join(", ")}`;
}
