/**
 * Renders templates with Helm: all of them in one run, without a cluster.
 *
 * The chart that Helm renders never changes. Templates and their variables are values on standard input, and each template is
 * rendered by itself (`tpl`) with its own map as dot: no `.Release`, no `.Files`. The results are one JSON list in base64,
 * which no result can break out of.
 */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { canonicalJson } from "@flotilla/shared/json";
import { toHelmJson } from "@flotilla/shared/yaml";
import { agentErrors } from "../../base/errors/index.ts";
import type { LimitRecords } from "../../base/index.ts";
import { type HelmResult, helmErrorOf, type RunHelm } from "../../helm/index.ts";
import { missingKeyIn } from "./template/index.ts";

/** The rendered templates in order, or the number of the first one that failed. */
export type Rendering =
  | { readonly kind: "rendered"; readonly texts: readonly string[] }
  | { readonly kind: "failed"; readonly number: number; readonly why: string };

/** Throws HELM_FAILED if Helm fails for another reason than a template, and LIMIT_EXCEEDED. */
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
    // A copy for each, because templates can modify it.
    "{{- $rendered = append $rendered (tpl . (fromJson $.Values.context)) }}",
    "{{- end }}",
    "rendered: {{ toJson $rendered | b64enc }}",
    "",
  ].join("\n"),
};

const isAboutTemplates = /^Error: (?:template: |execution error at \()/m;

const defaultLimitMs = 60_000;

/** As many as a content may have: they are parsed on the event loop. */
const maxRenderedMiB = 8;
const maxRenderedBase64 = (maxRenderedMiB * 1024 * 1024 * 4) / 3;

export function createRenderTemplates(deps: {
  readonly runHelm: RunHelm;
  /** Directory of the chart. */
  readonly dir: string;
  /** Timeout of one run of Helm: templates can contain endless loops. */
  readonly limitMs?: number | undefined;
  readonly limitRecords: LimitRecords;
}): RenderTemplates {
  const { limitMs = defaultLimitMs, limitRecords } = deps;
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
      const stdin = toHelmJson({
        templates: canonicalJson(templates.slice(from, to)),
        context: canonicalJson(context),
      });
      const key = `values sha256:${createHash("sha256").update(stdin).digest("hex")}`;
      limitRecords.check(key);
      const limit = AbortSignal.timeout(limitMs);
      const result = await deps.runHelm({
        args: ["template", "values", deps.dir, "--values=-"],
        stdin,
        signal: AbortSignal.any([signal, limit]),
      });
      if (signal.aborted)
        throw new AppError(commonErrors.CANCELLED, "cancelled: rendering of values");
      const exceeded = limit.aborted ? `took more than ${limitMs / 1000} s` : result.exceeded;
      if (exceeded !== undefined)
        throw await limitRecords.exceeded(
          key,
          `render the templates in the values with Helm: helm ${exceeded} and was killed; other deployments continue`,
        );
      await limitRecords.succeeded(key);
      if (result.code === 0) return { kind: "rendered", texts: textsOf(result) };
      const missing = missingKeyIn(result.stderr);
      if (missing !== undefined)
        return { kind: "failed", number: missing.number, why: `there is no ${missing.chain}` };
      if (!isAboutTemplates.test(result.stderr)) throw failure(helmErrorOf(result));
      if (to - from === 1) return { kind: "failed", number: from, why: whyOf(result) };
      // Helm's error does not name the template that failed.
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
  if (packed === undefined) throw failure("its output is empty or too large");
  if (packed.length > maxRenderedBase64)
    throw failure(`the rendered values have more than ${maxRenderedMiB} MiB`);
  const texts: unknown = JSON.parse(Buffer.from(packed, "base64").toString());
  return Array.isArray(texts) ? texts.map(String) : [];
}

function failure(why: string): AppError {
  return new AppError(
    agentErrors.HELM_FAILED,
    `render the templates in the values with Helm: ${why}`,
  );
}

/** Go's error, without the template, which may be long, and without the position in the translated one. */
function whyOf(result: HelmResult): string {
  const error = helmErrorOf(result).replace(/; Use --debug flag.*$/, "");
  const [, own] = /^execution error at \(.*?\): (.*)$/s.exec(error) ?? [];
  if (own !== undefined) return own;
  const at = error.lastIndexOf("template: gotpl:");
  return error
    .slice(at < 0 ? 0 : at)
    .replace(/^template: gotpl:[\d:]+: (?:executing "[^"]*" at <.*?>: )?/s, "");
}
