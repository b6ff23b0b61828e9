/**
 * Decodes the nodes of a YAML document to JSON values, as go.yaml.in/yaml v2 decodes and sigs.k8s.io/yaml converts.
 *
 * Keys are set in the order of the text and the last one wins, including merges (`<<`): unlike in YAML 1.1, a merge
 * overrides the keys above it.
 */
import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap } from "yaml";
import { rawNumber } from "../json/index.ts";
import { bindAliases, isExcessive, noAnchor, type Target } from "./aliases.ts";
import { DecodeError } from "./errors.ts";
import { keyText } from "./key.ts";
import { resolveScalar, type ScalarValue } from "./scalar.ts";

type Entries = Map<string, unknown>;

const maxDepth = 500;
const mergeTag = "tag:yaml.org,2002:merge";

/** Decodes the root node of a document; throws a DecodeProblem. */
export function decodeDocument(root: Node | null): unknown {
  if (root === null) return null;
  const targets = bindAliases(root);
  const followed = new Set<Target>();
  const count = { decoded: 0, fromAliases: 0, depth: 0 };
  return decode(root);

  function decode(node: Node | null): unknown {
    if (node === null) return null;
    return descend(node, () => {
      if (isAlias(node)) return follow(node, decode);
      if (isMap<Node, Node | null>(node)) {
        const entries: Entries = new Map();
        fill(entries, node);
        return Object.fromEntries(entries);
      }
      if (isSeq<Node | null>(node)) return node.items.map(decode);
      return jsonOf(node, scalarOf(node as Scalar));
    });
  }

  function descend<T>(node: Node, step: () => T): T {
    count.decoded++;
    if (followed.size > 0) count.fromAliases++;
    if (isExcessive(count.decoded, count.fromAliases))
      throw new DecodeError(node, "too much of it is from aliases");
    if (++count.depth > maxDepth)
      throw new DecodeError(node, `it is nested deeper than ${maxDepth} levels`);
    const result = step();
    count.depth--;
    return result;
  }

  function follow<T>(alias: Alias, step: (target: Target) => T): T {
    const target = targetOf(alias);
    if (followed.has(target))
      throw new DecodeError(alias, "the anchor of this alias contains the alias");
    followed.add(target);
    const result = step(target);
    followed.delete(target);
    return result;
  }

  function fill(entries: Entries, map: YAMLMap<Node, Node | null>): void {
    for (const { key, value } of map.items) {
      if (isMerge(key)) merge(entries, value ?? key);
      else entries.set(keyOf(key), decode(value));
    }
  }

  /** For several maps the first wins, so they are set in reverse order. */
  function merge(entries: Entries, source: Node): void {
    const maps = isSeq<Node>(source) ? source.items.toReversed() : [source];
    for (const node of maps) {
      descend(node, () => {
        const into = (target: Node): void => {
          if (!isMap<Node, Node | null>(target))
            throw new DecodeError(node, "only a map, or a list of maps, can be merged");
          fill(entries, target);
        };
        if (isAlias(node)) follow(node, into);
        else into(node);
      });
    }
  }

  function keyOf(key: Node): string {
    const target = isAlias(key) ? targetOf(key) : key;
    if (!isScalar(target)) throw new DecodeError(key, "a map or a list cannot be a key");
    const text = keyText(scalarOf(target));
    if (text === undefined)
      throw new DecodeError(key, "a key must be a text, a number below 2^63, or a boolean");
    return text;
  }

  function targetOf(alias: Alias): Target {
    const target = targets.get(alias);
    if (target === undefined) throw new DecodeError(alias, noAnchor);
    return target;
  }
}

function isMerge(key: Node): boolean {
  return isScalar(key) && sourceOf(key) === "<<" && (isPlain(key) || key.tag === mergeTag);
}

function scalarOf(node: Scalar): Exclude<ScalarValue, { kind: "invalid" }> {
  const quoted = node.tag === undefined && !isPlain(node);
  const value: ScalarValue = quoted
    ? { kind: "text", value: sourceOf(node) }
    : resolveScalar(node.tag ?? "", sourceOf(node));
  if (value.kind === "invalid") throw new DecodeError(node, value.why);
  if (value.kind === "text" && !value.value.isWellFormed())
    throw new DecodeError(node, "it has an escaped lone surrogate");
  return value;
}

/** Without quotes and tag, or with the tag "!", which means the same. */
function isPlain(node: Scalar): boolean {
  return node.tag === "!" || (node.tag === undefined && node.type === Scalar.PLAIN);
}

function sourceOf(node: Scalar): string {
  return node.source ?? "";
}

function jsonOf(node: Node, value: Exclude<ScalarValue, { kind: "invalid" }>): unknown {
  switch (value.kind) {
    case "null":
      return null;
    case "int":
      return Number.isSafeInteger(Number(value.value))
        ? Number(value.value)
        : rawNumber(String(value.value));
    case "float":
      if (!Number.isFinite(value.value)) throw new DecodeError(node, "JSON has no such number");
      // Parsed as YAML again, "-0" would be an integer without its sign.
      return Object.is(value.value, -0) ? rawNumber("-0.0") : value.value;
    default:
      return value.value;
  }
}
