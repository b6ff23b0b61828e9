/**
 * Has Helm render templates: one start of Helm for all of them, without a cluster.
 *
 * The chart that Helm renders never changes. Templates and what they may know come in as values, on standard input, and each
 * template is rendered for itself (`tpl`) with nothing but a map of its own as its dot: no `.Release`, no `.Files`. What comes
 * of them goes out as one JSON list in base64, which nothing that is rendered can be mistaken for.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import { canonicalJson } from "@flotilla/shared/json/exact.ts";
import { toHelmJson } from "@flotilla/shared/yaml/helm-yaml.ts";
import { agentErrors } from "../errors.ts";
import { complaintOf, type HelmResult, type RunHelm } from "../helm/run-helm.ts";
import { missingKeyIn } from "./translate-template.ts";

/** What Helm made of templates, in their order, or the first that it could not render, by its number. */
export type Rendering =
  | { readonly kind: "rendered"; readonly texts: readonly string[] }
  | { readonly kind: "failed"; readonly number: number; readonly why: string };

/** Throws HELM_FAILED where Helm fails of something else than a template. */
export type RenderTemplates = (
  templates: readonly string[],
  context: Readonly<Record<string, unknown>>,
  options: { readonly signal: AbortSignal },
) => Promise<Rendering>;

const chartFiles: Readonly<Record<string, string>> = {
  "Chart.yaml": "apiVersion: v2\nname: values\nversion: 1.0.0\n",
  "templates/values.yaml": [
    "{{- $rendered := list }}",
    "{{- range fromJsonArray .Values.templates }}",
    // A map for each: templates can change it.
    "{{- $rendered = append $rendered (tpl . (fromJson $.Values.context)) }}",
    "{{- end }}",
    "rendered: {{ toJson $rendered | b64enc }}",
    "",
  ].join("\n"),
};

const isAboutTemplates = /^Error: (?:template: |execution error at \()/m;

const usualLimitMs = 60_000;

export function createRenderTemplates(deps: {
  readonly runHelm: RunHelm;
  /** Where the chart is kept. */
  readonly dir: string;
  /** How long one run of Helm may take: templates can have loops without an end. */
  readonly limitMs?: number | undefined;
}): RenderTemplates {
  const { limitMs = usualLimitMs } = deps;
  let chart: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    chart ??= writeChart(deps.dir);
    try {
      await chart;
    } catch (thrown) {
      chart = undefined;
      throw thrown;
    }
  }

  return async function render(templates, context, { signal }) {
    await prepare();

    async function renderPart(from: number, to: number): Promise<Rendering> {
      const limit = AbortSignal.timeout(limitMs);
      const result = await deps.runHelm({
        args: ["template", "values", deps.dir, "--values=-"],
        stdin: toHelmJson({
          templates: canonicalJson(templates.slice(from, to)),
          context: canonicalJson(context),
        }),
        signal: AbortSignal.any([signal, limit]),
      });
      if (signal.aborted)
        throw new AppError(commonErrors.CANCELLED, "given up rendering values: nobody wants them");
      if (limit.aborted) throw failure(`it took longer than ${limitMs / 1000} s`);
      if (result.code === 0) return { kind: "rendered", texts: textsOf(result) };
      const missing = missingKeyIn(result.stderr);
      if (missing !== undefined)
        return { kind: "failed", number: missing.number, why: `there is no ${missing.chain}` };
      if (!isAboutTemplates.test(result.stderr)) throw failure(complaintOf(result));
      if (to - from === 1) return { kind: "failed", number: from, why: whyOf(result) };
      // Helm does not say which it was.
      const middle = Math.ceil((from + to) / 2);
      const first = await renderPart(from, middle);
      return first.kind === "failed" ? first : renderPart(middle, to);
    }

    return await renderPart(0, templates.length);
  };
}

async function writeChart(dir: string): Promise<void> {
  await mkdir(join(dir, "templates"), { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(chartFiles)) await writeFile(join(dir, name), text);
}

function textsOf({ stdout }: HelmResult): readonly string[] {
  const [, packed] = /^rendered: (\S+)$/m.exec(stdout) ?? [];
  if (packed === undefined) throw failure("it printed nothing, or more than is read");
  const texts: unknown = JSON.parse(Buffer.from(packed, "base64").toString());
  return Array.isArray(texts) ? texts.map(String) : [];
}

function failure(why: string): AppError {
  return new AppError(
    agentErrors.HELM_FAILED,
    `render the templates in the values with Helm: ${why}`,
  );
}

/** What Go says is wrong, without the template, which may be long, and the place in what we made of it. */
function whyOf(result: HelmResult): string {
  const said = complaintOf(result).replace(/; Use --debug flag.*$/, "");
  const [, own] = /^execution error at \(.*?\): (.*)$/s.exec(said) ?? [];
  if (own !== undefined) return own;
  const at = said.lastIndexOf("template: gotpl:");
  return said
    .slice(at < 0 ? 0 : at)
    .replace(/^template: gotpl:[\d:]+: (?:executing "[^"]*" at <.*?>: )?/s, "");
}
