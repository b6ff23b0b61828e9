/** Resolves the aliases of a YAML document, and limits the share of nodes from aliases. */
import {
  type Alias,
  isAlias,
  isMap,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { DecodeError } from "./errors.ts";

/** Without the name: a password may start with "*", too. */
export const noAnchor =
  'it starts with "*", so it is an alias, but there is no anchor of its name above it';

/** A node that is not an alias. */
export type Target = Scalar | YAMLMap | YAMLSeq;

/** Maps every alias to the last anchor of its name above it. The lookup of the package walks the document each time. */
export function bindAliases(root: Node): ReadonlyMap<Alias, Target> {
  const anchors = new Map<string, Target>();
  const targets = new Map<Alias, Target>();
  const waiting: (Node | null)[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === null) continue;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) throw new DecodeError(node, noAnchor);
      targets.set(node, target);
      continue;
    }
    const target: Target = node;
    if (target.anchor !== undefined) anchors.set(target.anchor, target);
    for (const child of childrenOf(target).toReversed()) waiting.push(child);
  }
  return targets;
}

/** The nodes of a collection in the order of the text; a missing value is null. */
function childrenOf(node: Target): readonly (Node | null)[] {
  if (isMap<Node, Node | null>(node)) return node.items.flatMap(({ key, value }) => [key, value]);
  return isSeq<Node>(node) ? node.items : [];
}

/**
 * Whether too many decoded nodes are from aliases: nearly all may be in a small document, a tenth in a huge one. The
 * limits of Go's parser; without them a few lines of nested aliases exhaust the memory.
 */
export function isExcessive(decoded: number, fromAliases: number): boolean {
  if (fromAliases <= 100 || decoded <= 1000) return false;
  const [low, high] = [400_000, 4_000_000];
  const scale = Math.min(1, Math.max(0, (decoded - low) / (high - low)));
  return fromAliases / decoded > 0.99 - 0.89 * scale;
}
