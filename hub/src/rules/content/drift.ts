/** What is done about drift, from a Bundle's options of Flux and of Fleet to a content. Pure. */
import type { DriftOptions } from "@flotilla/shared/api";
import { type DriftContent, driftSchema } from "@flotilla/shared/content";

/** Undefined: nothing is set, so that the content is the same as before these options had an effect. */
export function driftOptions({
  driftDetection,
  correctDrift,
  diff,
}: DriftOptions): DriftContent | undefined {
  const corrects = correctDrift?.enabled === true;
  const mode = driftDetection?.mode ?? (corrects ? "enabled" : undefined);
  const ignore = [
    ...(driftDetection?.ignore ?? []).map(({ paths, target }) => ({
      paths,
      ...(target && { target: withoutEmpty(target) }),
    })),
    ...(diff?.comparePatches ?? []).flatMap(rulesOf),
  ].filter(({ paths }) => paths.length > 0);
  const drift = {
    ...(mode !== undefined && { mode }),
    ...(mode === "enabled" && correctDrift?.force === true && { force: true }),
    ...(ignore.length > 0 && { ignore }),
  };
  // Parsed: without fields that this version does not know.
  return Object.keys(drift).length === 0 ? undefined : driftSchema.parse(drift);
}

type ComparePatch = NonNullable<NonNullable<DriftOptions["diff"]>["comparePatches"]>[number];
type Rule = NonNullable<DriftContent["ignore"]>[number];

/** Fleet changes both sides before it compares them, so what it removes, adds or replaces is never different. */
function rulesOf(patch: ComparePatch): readonly Rule[] {
  const { apiVersion, kind, namespace, name, operations, jsonPointers } = patch;
  const [group, version] = apiVersion?.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
  const others = withoutEmpty({
    ...(apiVersion && { group: exactly(group), version: exactly(version) }),
    kind: exactly(kind),
    namespace: exactly(namespace),
  });
  const paths = [
    ...(operations ?? []).flatMap(({ op, path }) => (op === "ignore" || !path ? [] : [path])),
    ...(jsonPointers ?? []),
  ];
  const ignoresAll = (operations ?? []).some(({ op }) => op === "ignore");
  return [
    ...(paths.length > 0
      ? [{ paths, target: { ...others, ...withoutEmpty({ name: exactly(name) }) } }]
      : []),
    ...(ignoresAll ? [{ paths: [""], target: { ...others, ...partOf(name) } }] : []),
  ];
}

/** As Go's MatchString. */
function partOf(name: string | null | undefined): { readonly name?: string } {
  return name ? { name: `(?s:.*)(?:${name})(?s:.*)` } : {};
}

/** A regular expression for one text. */
function exactly(text: string | null | undefined): string {
  return (text ?? "").replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Null and "" mean the same as absent. */
function withoutEmpty(
  target: Readonly<Record<string, string | null | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(target).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}
