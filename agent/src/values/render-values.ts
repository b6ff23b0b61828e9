/**
 * The values of a deployment as they are in one cluster: texts that stand for one of its labels replaced, templates rendered
 * with Helm's engine, and `templateValues` over all of that.
 */
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { ClusterInfo } from "@flotilla/shared/referenced/cluster-info.ts";
import { agentErrors } from "../errors.ts";
import type { RunHelm } from "../helm/run-helm.ts";
import { createRenderTemplates } from "./helm-renderer.ts";
import { parseRendered, reread } from "./reread.ts";
import { TemplateProblem } from "./template-problem.ts";
import {
  findTexts,
  labelIn,
  replaceTexts,
  type TemplateText,
  type Values,
} from "./template-texts.ts";
import { translateTemplate } from "./translate-template.ts";

/** The fields of a content that templates can be in. */
export interface ValuesTemplates {
  readonly values?: Values | undefined;
  readonly templateValues?: Readonly<Record<string, string>> | undefined;
  readonly valuesAreTemplates: boolean;
}

/**
 * What `values` with `templateValues` over them come to in a cluster; undefined: no values. Throws VALUES_TEMPLATE_FAILED,
 * and what keeps Helm from running at all: HELM_FAILED, HELM_UNAVAILABLE, CANCELLED.
 */
export type RenderValues = (
  content: ValuesTemplates,
  facts: ClusterInfo,
  options: { readonly signal: AbortSignal },
) => Promise<Values | undefined>;

/** Whether anything in it has to be rendered, and so the cluster's facts are needed. Pure. */
export function hasTemplates(content: ValuesTemplates): boolean {
  const { values = {}, templateValues = {}, valuesAreTemplates } = content;
  return (
    Object.keys(templateValues).length > 0 ||
    findTexts(values, "values", valuesAreTemplates).length > 0
  );
}

export function createRenderValues(deps: {
  readonly runHelm: RunHelm;
  /** A folder of its own, for what Helm reads. */
  readonly dir: string;
  /** How long Helm may take; absent: a minute. */
  readonly limitMs?: number;
}): RenderValues {
  const renderTemplates = createRenderTemplates(deps);

  return async function renderValues(content, facts, { signal }) {
    const { values, templateValues, valuesAreTemplates } = content;
    if (values === undefined && templateValues === undefined) return undefined;
    const inValues = values === undefined ? [] : findTexts(values, "values", valuesAreTemplates);
    const computed = Object.entries(templateValues ?? {}).map(([key, text]) => ({
      key,
      found: { path: `templateValues.${key}`, text, place: "value" } satisfies TemplateText,
    }));

    const templates = [...inValues, ...computed.map(({ found }) => found)].filter(
      (one) => one.text.includes("${") && labelOf(one) === undefined,
    );
    const rendered = await renderAll(templates, facts, signal);

    const replaced = attempt({ path: "values" }, facts, () =>
      replaceTexts(values ?? {}, "values", (one) => {
        const label = labelOf(one);
        if (label !== undefined) return own(facts.labels, label) ?? "";
        const text = rendered.get(nameOf(one));
        if (text === undefined) return one.text;
        return attempt(one, facts, () => reread(one.text, text, one.place));
      }),
    );
    const over = computed.map(({ key, found }) => {
      const text = rendered.get(nameOf(found)) ?? found.text;
      return [key, attempt(found, facts, () => parseRendered(text))] as const;
    });
    return Object.fromEntries([...Object.entries(replaced), ...over]);
  };

  async function renderAll(
    templates: readonly TemplateText[],
    facts: ClusterInfo,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    if (templates.length === 0) return new Map();
    const translated = templates.map((one, number) =>
      attempt(one, facts, () => translateTemplate(one.text, number)),
    );
    const rendering = await renderTemplates(translated, contextOf(facts), { signal });
    if (rendering.kind === "rendered")
      return new Map(
        templates.map((one, number) => [nameOf(one), rendering.texts[number] ?? ""] as const),
      );
    throw failure(templates[rendering.number]?.path ?? "values", facts, rendering.why);
  }
}

/** What templates know, under Fleet's names. */
function contextOf(facts: ClusterInfo): Readonly<Record<string, unknown>> {
  return {
    ClusterNamespace: facts.namespace,
    ClusterName: facts.name,
    ClusterLabels: facts.labels,
    ClusterAnnotations: facts.annotations,
    ClusterValues: facts.templateValues,
  };
}

function labelOf({ text, place }: TemplateText): string | undefined {
  return place === "key" ? undefined : labelIn(text);
}

function nameOf({ path, place }: TemplateText): string {
  return `${place === "key" ? "key" : "text"} ${path}`;
}

function own(texts: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined;
}

function attempt<T>({ path }: Pick<TemplateText, "path">, facts: ClusterInfo, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    if (!(thrown instanceof TemplateProblem)) throw thrown;
    throw failure(path, facts, messageOf(thrown), thrown);
  }
}

function failure(path: string, facts: ClusterInfo, why: string, cause?: unknown): AppError {
  return new AppError(
    agentErrors.VALUES_TEMPLATE_FAILED,
    `render the template ${path} for cluster ${facts.namespace}/${facts.name}: ${why}; it is rendered again when the values or what the hub says of the cluster change`,
    { cause },
  );
}
