/** What is wrong with an Alert although the API server took it: it selects nothing, or cannot send. Pure. */
import type { EventSource, Provider } from "@flotilla/shared/flux";
import { notifiedKinds } from "./kinds.ts";
import { isForbidden } from "./match.ts";
import { isWrittenProvider, type WrittenAlert } from "./objects.ts";
import { providerProblem } from "./provider-settings.ts";

export interface CheckedObject {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface AlertCheckInput {
  readonly alert: WrittenAlert;
  readonly provider: Provider | undefined;
  readonly crossNamespace: boolean;
  /** All objects of a kind; undefined: this hub does not watch it. */
  readonly objectsOf: (kind: string) => Iterable<CheckedObject> | undefined;
}

/** Sentences, the most important first. */
export function alertProblems(input: AlertCheckInput): readonly string[] {
  const { alert, provider } = input;
  const { spec } = alert;
  if (spec.suspend === true) return [];
  const providerText = !isWrittenProvider(provider)
    ? `the Provider ${spec.providerRef.name} does not exist in this namespace`
    : provider.spec.suspend === true
      ? `the Provider ${spec.providerRef.name} is suspended`
      : providerProblem(provider);
  const problems = spec.eventSources.flatMap((source) => sourceProblem(source, input) ?? []);
  const isNothing = problems.length === spec.eventSources.length;
  const selection =
    problems.length === 0 && !isNothing
      ? []
      : [
          `${isNothing ? "selects no object" : "some sources select no object"}: ${problems.join("; ") || "it has no eventSources"}`,
        ];
  return [...(providerText === undefined ? [] : [providerText]), ...selection];
}

function sourceProblem(
  source: EventSource,
  { alert, crossNamespace, objectsOf }: AlertCheckInput,
): string | undefined {
  const { namespace: own = "" } = alert.metadata;
  const namespace = source.namespace || own;
  const what = `${source.kind} ${namespace}/${source.name}`;
  if (!notifiedKinds.includes(source.kind))
    return `${what}: this hub has no controller of the kind ${source.kind}`;
  if (isForbidden(source, own, { crossNamespace }))
    return `${what}: references to other namespaces are not allowed (see flux.crossNamespaceReferences of the hub's chart)`;
  const objects = objectsOf(source.kind);
  if (objects === undefined) return `${what}: the kind ${source.kind} is not installed`;
  for (const { name, namespace: of, labels } of objects) {
    const isSelected =
      (source.name === "*" || source.name === name) &&
      (namespace === "*" || namespace === of) &&
      Object.entries(source.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
    if (isSelected) return undefined;
  }
  const labels = Object.keys(source.matchLabels ?? {}).length > 0 ? " with its matchLabels" : "";
  return `${what}: there is no such object${labels}`;
}
