/** Which Alerts an event is for, and with which metadata. Pure; the rules are Flux's. */

import { type EventSource, maxExpressions } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { MatchWithin, PatternBudget, Patterns } from "@flotilla/shared/regex";
import type { FluxEvent, ObservedEvent } from "./event.ts";
import { hasTooManySources, type WrittenAlert } from "./objects.ts";

export interface MatchRules {
  /** Whether Alerts may name objects of other namespaces. */
  readonly crossNamespace: boolean;
  readonly patterns: Pick<Patterns, "findWithin">;
}

/** What is wrong with an Alert, for an Event on it. */
export interface Remark {
  readonly reason: "InvalidConfig" | typeof fluxReason.metadataAppendFailed;
  readonly note: string;
}

export type Matched =
  | { readonly kind: "no"; readonly remarks: readonly Remark[] }
  /** The event as it is sent. */
  | { readonly kind: "yes"; readonly event: FluxEvent; readonly remarks: readonly Remark[] };

/** What all Alerts of a namespace may take. */
export interface MatchBudgets {
  readonly sources: PatternBudget;
  readonly expressions: PatternBudget;
}

/** What the budget is charged for comparing a source, and one of its labels. */
const unitsPerComparison = 2;

/** `remarks`: what cannot be used, and metadata that is set twice. */
export function matchAlert(
  alert: WrittenAlert,
  observed: ObservedEvent,
  rules: MatchRules,
  budgets: MatchBudgets,
): Matched {
  const { spec, metadata } = alert;
  const { event } = observed;
  if (spec.suspend === true || metadata.deletionTimestamp !== undefined) return no();
  if (spec.eventSeverity === "error" && event.severity !== "error") return no();
  if (hasTooManySources(alert)) return no();
  let isSelected = false;
  for (const source of spec.eventSources) {
    const labels = source.matchLabels === undefined ? 0 : Object.keys(source.matchLabels).length;
    if (!budgets.sources.take((1 + labels) * unitsPerComparison)) return no([sourcesIgnored]);
    isSelected = selects(source, metadata.namespace ?? "", observed, rules);
    if (isSelected) break;
  }
  if (!isSelected) return no();
  const find = (expression: string) =>
    rules.patterns.findWithin(expression, event.message, budgets.expressions);
  const included = anyMatches(spec.inclusionList ?? [], find);
  const excluded = anyMatches(spec.exclusionList ?? [], find);
  const remarks = [...included.remarks, ...excluded.remarks];
  const hasInclusions = (spec.inclusionList ?? []).length > 0;
  if ((hasInclusions && !included.isMatch) || excluded.isMatch) return no(remarks);
  const merged = mergeMetadata(alert, observed);
  const { metadata: _, ...rest } = event;
  const hasMetadata = Object.keys(merged.metadata).length > 0;
  return {
    kind: "yes",
    event: { ...rest, ...(hasMetadata && { metadata: merged.metadata }) },
    remarks: [...remarks, ...merged.remarks],
  };
}

const sourcesIgnored: Remark = {
  reason: "InvalidConfig",
  note: "eventSources are ignored: matching the eventSources of all Alerts of this namespace takes too long; write fewer, with fewer labels",
};

/** Whether a source of an Alert in `namespace` selects an object. */
export function selects(
  source: EventSource,
  namespace: string,
  { event: { involvedObject }, labels }: Pick<ObservedEvent, "event" | "labels">,
  { crossNamespace }: Pick<MatchRules, "crossNamespace">,
): boolean {
  const from = source.namespace || namespace;
  if (isForbidden(source, namespace, { crossNamespace })) return false;
  return (
    source.kind === involvedObject.kind &&
    (source.name === "*" || source.name === involvedObject.name) &&
    (from === "*" || from === involvedObject.namespace) &&
    Object.entries(source.matchLabels ?? {}).every(([key, value]) => labels[key] === value)
  );
}

/** Whether it names another namespace, and that is not allowed. */
export function isForbidden(
  source: EventSource,
  namespace: string,
  { crossNamespace }: Pick<MatchRules, "crossNamespace">,
): boolean {
  const from = source.namespace || namespace;
  return !crossNamespace && from !== namespace;
}

/** Keys of events of this hub that Flux's controllers do not set, and that Alerts written for Flux often do: they keep theirs. */
const fleetKeys: ReadonlySet<string> = new Set(["cluster", "clusters", "rollout", "stage", "gate"]);

/**
 * What a later one sets replaces what an earlier one set: annotations of the object, the Alert's eventMetadata, its summary, the
 * controller.
 */
function mergeMetadata(
  { spec }: WrittenAlert,
  { event, annotated }: ObservedEvent,
): { readonly metadata: Readonly<Record<string, string>>; readonly remarks: readonly Remark[] } {
  const layers = [
    ["the annotations of the object", annotated],
    ["spec.eventMetadata", spec.eventMetadata ?? {}],
    ["spec.summary", spec.summary ? { summary: spec.summary } : {}],
    ["the controller", event.metadata ?? {}],
  ] as const;
  const setBy = new Map<string, string[]>();
  const metadata: Record<string, string> = {};
  for (const [where, entries] of layers)
    for (const [key, value] of Object.entries(entries)) {
      if (where === "the controller" && fleetKeys.has(key) && setBy.has(key)) continue;
      metadata[key] = value;
      setBy.set(key, [...(setBy.get(key) ?? []), where]);
    }
  const remarks = [...setBy]
    .filter(([, where]) => where.length > 1)
    .map(([key, where]): Remark => {
      const note = `metadata key ${key} is set by ${where.join(" and ")}; ${where.at(-1)} takes precedence`;
      return { reason: fluxReason.metadataAppendFailed, note };
    });
  return { metadata, remarks };
}

function anyMatches(
  expressions: readonly string[],
  find: (expression: string) => MatchWithin,
): { readonly isMatch: boolean; readonly remarks: readonly Remark[] } {
  const remarks: Remark[] = [];
  const add = (note: string) => remarks.push({ reason: "InvalidConfig", note });
  // The definitions of Flux have no limit.
  for (const expression of expressions.slice(0, maxExpressions)) {
    const match = find(expression);
    if (match.kind === "yes") return { isMatch: true, remarks };
    if (match.kind === "unusable")
      add(`the regular expression ${expression} is ignored: ${match.why}`);
    if (match.kind === "spent") {
      add(
        "regular expressions are ignored: matching the expressions of all Alerts of this namespace takes too long; write fewer or simpler ones",
      );
      return { isMatch: false, remarks };
    }
  }
  if (expressions.length > maxExpressions)
    add(
      `${expressions.length - maxExpressions} regular expressions are ignored: a list has ${maxExpressions} at most`,
    );
  return { isMatch: false, remarks };
}

function no(remarks: readonly Remark[] = []): Matched {
  return { kind: "no", remarks };
}
