/**
 * The values of a deployment in one cluster: strings that name cluster labels are replaced, templates are rendered with Helm's
 * engine, and `templateValues` override the result.
 */
import { AppError, messageOf } from "@flotilla/shared/errors";
import { parseExact } from "@flotilla/shared/json";
import type { ClusterInfo } from "@flotilla/shared/referenced";
import * as z from "zod";
import { agentErrors } from "../../base/errors/index.ts";
import type { LimitRecords } from "../../base/index.ts";
import type { RunHelm } from "../../helm/index.ts";
import { createRenderTemplates } from "./helm-renderer.ts";
import {
  findTexts,
  labelIn,
  replaceTexts,
  TemplateError,
  type TemplateReplies,
  type TemplateText,
  type Values,
} from "./template/index.ts";

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

/** Reads in a process of its own what may take long. Throws LIMIT_EXCEEDED. */
export interface ReadTemplates {
  translate(texts: readonly string[]): Promise<TemplateReplies["translate"]>;
  reread(all: readonly Rendered[]): Promise<TemplateReplies["reread"]>;
}

/** A template, and what it was rendered to. */
export interface Rendered {
  readonly text: string;
  readonly rendered: string;
  readonly place: TemplateText["place"] | "whole";
}

export function createRenderValues(deps: {
  readonly runHelm: RunHelm;
  readonly readTemplates: ReadTemplates;
  /** A directory of its own, for files that Helm reads. */
  readonly dir: string;
  readonly limitRecords: LimitRecords;
  /** Timeout of Helm; default one minute. */
  readonly limitMs?: number;
}): RenderValues {
  const { readTemplates } = deps;
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
    const results = await rereadAll(
      [
        ...inValues.flatMap((one) => {
          const text = labelOf(one) === undefined ? rendered.get(nameOf(one)) : undefined;
          return text === undefined ? [] : [{ one, rendered: text, place: one.place }];
        }),
        ...computed.map(({ found: one }) => ({
          one,
          rendered: rendered.get(nameOf(one)) ?? one.text,
          place: "whole" as const,
        })),
      ],
      info,
    );

    const replaced = toErrors({ path: "values" }, info, () =>
      replaceTexts(values ?? {}, "values", (one) => {
        const label = labelOf(one);
        if (label !== undefined) return own(info.labels, label) ?? "";
        const name = nameOf(one);
        return results.has(name) ? results.get(name) : one.text;
      }),
    );
    const over = computed.map(({ key, found }) => [key, results.get(nameOf(found))] as const);
    return Object.fromEntries([...Object.entries(replaced), ...over]);
  };

  /** The values of rendered templates, by their names. */
  async function rereadAll(
    all: readonly (Omit<Rendered, "text"> & { readonly one: TemplateText })[],
    info: ClusterInfo,
  ): Promise<ReadonlyMap<string, unknown>> {
    if (all.length === 0) return new Map();
    const found = await readTemplates.reread(
      all.map(({ one: { text }, rendered, place }) => ({ text, rendered, place })),
    );
    if ("why" in found) throw failure(all[found.number]?.one.path ?? "values", info, found.why);
    const values = z.array(z.unknown()).parse(parseExact(found.json));
    return new Map(all.map(({ one }, number) => [nameOf(one), values[number]] as const));
  }

  async function renderAll(
    templates: readonly TemplateText[],
    info: ClusterInfo,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    if (templates.length === 0) return new Map();
    const translated = await readTemplates.translate(templates.map(({ text }) => text));
    if ("why" in translated)
      throw failure(templates[translated.number]?.path ?? "values", info, translated.why);
    const rendering = await renderTemplates(translated.texts, contextOf(info), { signal });
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
