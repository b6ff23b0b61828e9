/** Where the objects of a resource tree are drawn: what has created others on the left of them. */
import dagre from "@dagrejs/dagre";
import type { ResourceNode } from "./resources.ts";

export const nodeSize = { width: 224, height: 48 } as const;

export interface PlacedNode {
  readonly node: ResourceNode;
  /** The x of its upper left corner, in pixels. */
  readonly x: number;
  readonly y: number;
}

export interface TreeLayout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly { readonly id: string; readonly path: string }[];
  readonly width: number;
  readonly height: number;
}

export function layoutTree(nodes: readonly ResourceNode[]): TreeLayout {
  // dagre has no size for a graph without nodes.
  if (nodes.length === 0) return { nodes: [], edges: [], width: 0, height: 0 };
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 10, ranksep: 48, marginx: 2, marginy: 2 });
  for (const { id } of nodes) graph.setNode(id, { ...nodeSize });
  for (const { id, parent } of nodes) if (parent !== undefined) graph.setEdge(parent, id, {});
  dagre.layout(graph);
  const placed = nodes.map((node) => {
    const { x = 0, y = 0 } = graph.node(node.id);
    return { node, x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 };
  });
  const at = new Map(placed.map((each) => [each.node.id, each]));
  const { width = 0, height = 0 } = graph.graph();
  return {
    nodes: placed,
    edges: placed.flatMap(({ node, x, y }) => {
      const parent = at.get(node.parent ?? "");
      return parent === undefined ? [] : [{ id: node.id, path: edgePath(parent, { x, y }) }];
    }),
    width,
    height,
  };
}

function edgePath(from: { readonly x: number; readonly y: number }, to: typeof from): string {
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2];
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
