/** Cycles between nodes: folders of src, and the files that lie directly in it. */
import { dirname } from "node:path";
import { flatPackages } from "./layers.ts";

/** An import, by paths from the root of the repository. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/** A set of nodes each of which reaches all others, with one import for each edge between them. */
export interface FolderCycle {
  readonly nodes: readonly string[];
  readonly imports: readonly Import[];
}

/** Every strongly connected component of more than one node. */
export function folderCycles(imports: readonly Import[]): readonly FolderCycle[] {
  const edges = new Map<string, Map<string, Import>>();
  for (const one of imports) {
    const [from, to] = [nodeOf(one.from), nodeOf(one.to)];
    if (from === to) continue;
    const targets = edges.get(from) ?? new Map<string, Import>();
    edges.set(from, targets.set(to, targets.get(to) ?? one));
  }
  const reached = new Map([...edges.keys()].map((node) => [node, reachable(edges, node)]));
  const seen = new Set<string>();
  const cycles: FolderCycle[] = [];
  for (const [node, others] of reached) {
    if (seen.has(node) || !others.has(node)) continue;
    const nodes = [...others].filter((other) => reached.get(other)?.has(node)).sort();
    for (const member of nodes) seen.add(member);
    cycles.push({ nodes, imports: between(nodes, edges) });
  }
  return cycles;
}

/** The node that a file belongs to. */
export function nodeOf(file: string): string {
  const folder = dirname(file);
  const [name = ""] = file.split("/");
  return folder === `${name}/src` && !flatPackages.includes(name) ? file : folder;
}

/** The nodes that one reaches over at least one edge. */
function reachable(edges: ReadonlyMap<string, ReadonlyMap<string, Import>>, start: string) {
  const found = new Set<string>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of edges.get(node)?.keys() ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}

function between(
  nodes: readonly string[],
  edges: ReadonlyMap<string, ReadonlyMap<string, Import>>,
): readonly Import[] {
  return nodes.flatMap((from) => nodes.flatMap((to) => edges.get(from)?.get(to) ?? []));
}
