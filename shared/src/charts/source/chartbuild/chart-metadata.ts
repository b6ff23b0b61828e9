/** Chart.yaml and Chart.lock, as Helm reads them. Pure. */
import * as z from "zod";
import { AppError, messageOf } from "../../../runtime/errors/index.ts";
import { parseHelmYaml, toHelmJson } from "../../../text/yaml/index.ts";
import { isMap, type Values } from "../../values/index.ts";
import { chartErrors } from "../index.ts";

export interface ChartDependency {
  readonly name: string;
  /** A constraint; in a lock, a version. */
  readonly version: string;
  readonly repository: string;
  /** All its fields as written. */
  readonly fields: Values;
}

export interface ChartMetadata {
  /** `v1` if it is absent, as in Helm. */
  readonly apiVersion: string;
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly ChartDependency[];
  /** All of Chart.yaml. */
  readonly fields: Values;
}

export interface ChartLock {
  /** "" if it is absent. */
  readonly digest: string;
  readonly dependencies: readonly ChartDependency[];
}

const dependencySchema = z.looseObject({
  name: z.string(),
  version: z.string().nullish(),
  repository: z.string().nullish(),
});

const dependenciesSchema = z.looseObject({ dependencies: z.array(dependencySchema).nullish() });

const metadataSchema = dependenciesSchema.extend({
  apiVersion: z.string().nullish(),
  // It becomes the name of a directory.
  name: z
    .string()
    .regex(/^[^/\\\0]+$/, "it is empty or has a slash")
    .refine((name) => name !== "." && name !== ".."),
  version: z.string(),
});

const lockSchema = dependenciesSchema.extend({ digest: z.string().nullish() });

/** `requirements`: the file of that name, with the dependencies of a chart of `apiVersion: v1`. Throws CHART_BUILD. */
export function parseChartMetadata(
  text: string,
  {
    requirements,
    name = "Chart.yaml",
  }: { readonly requirements?: string | undefined; readonly name?: string } = {},
): ChartMetadata {
  const fields = parse(text, name, metadataSchema);
  const apiVersion = nonEmpty(fields.apiVersion) ?? "v1";
  const required =
    requirements === undefined || apiVersion !== "v1"
      ? undefined
      : parse(requirements, name.replace("Chart.yaml", "requirements.yaml"), dependenciesSchema);
  return {
    apiVersion,
    name: fields.name,
    version: fields.version,
    dependencies: dependenciesOf(required?.dependencies ?? fields.dependencies),
    fields,
  };
}

/** Throws CHART_BUILD. */
export function parseChartLock(text: string, name = "Chart.lock"): ChartLock {
  const { digest, dependencies } = parse(text, name, lockSchema);
  return { digest: digest ?? "", dependencies: dependenciesOf(dependencies) };
}

/** Chart.yaml with another version; as JSON, which is YAML, so that nothing else is read differently. */
export function withVersion({ fields }: ChartMetadata, version: string): string {
  return `${toHelmJson({ ...fields, version })}\n`;
}

function dependenciesOf(
  dependencies: readonly z.infer<typeof dependencySchema>[] | null | undefined,
): readonly ChartDependency[] {
  return (dependencies ?? []).map((fields) => ({
    name: fields.name,
    version: fields.version ?? "",
    repository: fields.repository ?? "",
    fields,
  }));
}

function parse<T extends z.ZodType>(text: string, name: string, schema: T): z.infer<T> {
  let value: unknown;
  try {
    value = parseHelmYaml(text.replace(/^\ufeff/, ""), { name });
  } catch (thrown) {
    throw new AppError(chartErrors.CHART_BUILD, messageOf(thrown), { cause: thrown });
  }
  const parsed = schema.safeParse(isMap(value) ? value : undefined);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join(".") ?? "";
  throw new AppError(
    chartErrors.CHART_BUILD,
    `read ${name}: ${path === "" ? "it is not a map" : `${path} is invalid: ${issue?.message}`}`,
  );
}

function nonEmpty(text: string | null | undefined): string | undefined {
  return text === null || text === "" ? undefined : text;
}
