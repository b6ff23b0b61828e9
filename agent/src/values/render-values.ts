/**
 * The values of a deployment in one cluster: strings that name cluster labels are replaced, templates are rendered with Helm's
 * engine, and `templateValues` override the result.
 */
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { ClusterInfo } from "@flotilla/shared/referenced";
import { agentErrors } from "../errors/index.ts";
import type { RunHelm } from "../helm/index.ts";
import type { LimitRecords } from "../process/index.ts";
import { createRenderTemplates } from "./helm-renderer.ts";
import { TemplateError } from "./lex-template.ts";
import { parseRendered, reread } from "./reread.ts";
import {
  findTexts,
  labelIn,
  replaceTexts,
  type TemplateText,
  type Values,
} from "./template-texts.ts";
import { translateTemplate } from "./translate-template.ts";

/** The fields of a content that can contain templates. */
export interface ValuesTemplates {
  readonly values?: Values | undefined;
  readonly templateValues?: Readonly<Record<string, string>> | undefined;
  readonly valuesAreTemplates: boolean;
}

/**
 * `values` overridden by `templateValues`; undefined: no values. Throws VALUES_TEMPLATE_FAILED, LIMIT_EXCEEDED, and
 * HELM_FAILED, HELM_UNAVAILABLE or CANCELLED if Helm did not run.
 */
export type RenderValues = (
  content: ValuesTemplates,
  info: ClusterInfo,
  options: { readonly signal: AbortSignal },
) => Promise<Values | undefined>;

/** Whether anything is rendered, which needs the cluster info. Pure. */
export function hasTemplates(content: ValuesTemplates): boolean {
  const { values = {}, templateValues = {}, valuesAreTemplates } = content;
  return (
    Object.keys(templateValues).length > 0 ||
    findTexts(values, "values", valuesAreTemplates).length > 0
  );
}

export function createRenderValues(deps: {
  readonly runHelm: RunHelm;
  /** A directory of its own, for files that Helm reads. */
  readonly dir: string;
  readonly limitRecords: LimitRecords;
  /** Timeout of Helm; default one minute. */
  readonly limitMs?: number;
}): RenderValues {
  const renderTemplates = createRenderTemplates(deps);

  return async function renderValues(content, info, { signal }) {
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
    const rendered = await renderAll(templates, info, signal);

    const replaced = toErrors({ path: "values" }, info, () =>
      replaceTexts(values ?? {}, "values", (one) => {
        const label = labelOf(one);
        if (label !== undefined) return own(info.labels, label) ?? "";
        const text = rendered.get(nameOf(one));
        if (text === undefined) return one.text;
        return toErrors(one, info, () => reread(one.text, text, one.place));
      }),
    );
    const over = computed.map(({ key, found }) => {
      const text = rendered.get(nameOf(found)) ?? found.text;
      return [key, toErrors(found, info, () => parseRendered(text))] as const;
    });
    return Object.fromEntries([...Object.entries(replaced), ...over]);
  };

  async function renderAll(
    templates: readonly TemplateText[],
    info: ClusterInfo,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    if (templates.length === 0) return new Map();
    const translated = templates.map((one, number) =>
      toErrors(one, info, () => translateTemplate(one.text, number)),
    );
    const rendering = await renderTemplates(translated, contextOf(info), { signal });
    if (rendering.kind === "rendered")
      return new Map(
        templates.map((one, number) => [nameOf(one), rendering.texts[number] ?? ""] as const),
      );
    throw failure(templates[rendering.number]?.path ?? "values", info, rendering.why);
  }
}

/** The variables of templates, with Fleet's names. */
function contextOf(info: ClusterInfo): Readonly<Record<string, unknown>> {
  return {
    ClusterNamespace: info.namespace,
    ClusterName: info.name,
    ClusterLabels: info.labels,
    ClusterAnnotations: info.annotations,
    ClusterValues: info.templateValues,
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

/** Converts a TemplateError to VALUES_TEMPLATE_FAILED. */
function toErrors<T>({ path }: Pick<TemplateText, "path">, info: ClusterInfo, parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    if (!(thrown instanceof TemplateError)) throw thrown;
    throw failure(path, info, messageOf(thrown), thrown);
  }
}

function failure(path: string, info: ClusterInfo, why: string, cause?: unknown): AppError {
  return new AppError(
    agentErrors.VALUES_TEMPLATE_FAILED,
    `render the template ${path} for cluster ${info.namespace}/${info.name}: ${why}; rendered again when the values or the cluster's labels and template values change`,
    { cause },
  );
}
