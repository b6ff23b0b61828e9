/** The fields of a schema as table rows: path, type, default and description. Pure. */
import * as z from "zod";
import { AppError, commonErrors } from "../../../runtime/errors/index.ts";
import { bundleDeploymentOptionsFields } from "../index.ts";

export interface FieldRow {
  /** From the root of the schema: `diff.comparePatches[].kind`. */
  readonly path: string;
  /** Markdown. */
  readonly type: string;
  readonly absent: string;
  readonly description: string;
}

export interface FieldTable {
  readonly rows: readonly FieldRow[];
  /** Referenced types that have their own table, in order. */
  readonly types: readonly NamedType[];
}

/** A schema with a title, or a set of fields that several schemas share. */
export interface NamedType {
  readonly title: string;
  readonly schema: z.ZodObject;
}

/** Listed once instead of in every kind that has all of them. */
const deploymentOptions: NamedType = {
  title: "DeploymentOptions",
  schema: z.looseObject(bundleDeploymentOptionsFields),
};

export function fieldTable(schema: z.ZodObject): FieldTable {
  const rows: FieldRow[] = [];
  const types: NamedType[] = [];
  collect(schema, "", rows, types);
  return { rows, types };
}

/** A link to the table of a type. */
export function typeLink(title: string): string {
  return `[${title}](#${title.toLowerCase()})`;
}

function collect(schema: z.ZodObject, prefix: string, rows: FieldRow[], types: NamedType[]): void {
  const isShared = schema !== deploymentOptions.schema && hasAll(schema, deploymentOptions.schema);
  if (isShared) {
    types.push(deploymentOptions);
    rows.push({
      path: `${prefix}…`,
      type: typeLink(deploymentOptions.title),
      absent: "",
      description: "All of these fields, and:",
    });
  }
  for (const [name, field] of Object.entries<unknown>(schema.shape)) {
    if (isShared && isSameField(name, schema, deploymentOptions.schema)) continue;
    collectField(asZod(field), `${prefix}${name}`, rows, types);
  }
}

function collectField(field: z.ZodType, path: string, rows: FieldRow[], types: NamedType[]): void {
  const shape = shapeOf(field);
  const meta = field.meta() ?? {};
  rows.push({
    path,
    type: shape.text,
    absent: absentText(field, meta["x-default-text"]),
    description: meta.description ?? "",
  });
  if (shape.named !== undefined) types.push(shape.named);
  if (shape.inline !== undefined) collect(shape.inline, `${path}${shape.suffix}.`, rows, types);
}

function absentText(field: z.ZodType, text: unknown): string {
  // What the API server writes into the object.
  if (field instanceof z.ZodDefault) return `\`${String(field.def.defaultValue)}\``;
  if (!(field instanceof z.ZodOptional)) return "required";
  return typeof text === "string" ? text : "";
}

interface Shape {
  readonly text: string;
  /** Between the name of this field and the names of its fields. */
  readonly suffix: string;
  readonly named?: NamedType;
  /** An object without its own table. */
  readonly inline?: z.ZodObject;
}

function shapeOf(schema: z.ZodType): Shape {
  const meta = schema.meta();
  if (meta?.["x-kubernetes-int-or-string"] === true) return plain("integer or text");
  if (meta?.["format"] === "date-time") return plain("time");
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
    return shapeOf(asZod(schema.unwrap()));
  if (schema instanceof z.ZodArray) {
    const element = shapeOf(asZod(schema.element));
    return { ...element, text: `list of ${element.text}`, suffix: `[]${element.suffix}` };
  }
  if (schema instanceof z.ZodRecord) {
    const value = asZod(schema.valueType);
    if (value instanceof z.ZodUnknown) return plain("any object");
    const inner = shapeOf(value);
    return { ...inner, text: `map of ${inner.text}`, suffix: `.*${inner.suffix}` };
  }
  if (schema instanceof z.ZodObject) {
    const title = meta?.title;
    return title === undefined
      ? { text: "object", suffix: "", inline: schema }
      : { text: typeLink(title), suffix: "", named: { title, schema } };
  }
  if (schema instanceof z.ZodEnum)
    return plain(schema.options.map((option) => `\`${option}\``).join(", "));
  if (schema instanceof z.ZodString) return plain("text");
  if (schema instanceof z.ZodBoolean) return plain("boolean");
  if (schema instanceof z.ZodNumber) return plain("integer");
  return plain("object");
}

function plain(text: string): Shape {
  return { text, suffix: "" };
}

function hasAll(schema: z.ZodObject, shared: z.ZodObject): boolean {
  return Object.keys(shared.shape).every((name) => name in schema.shape);
}

/** Whether the field is the shared one, not one that the schema replaced. */
function isSameField(name: string, schema: z.ZodObject, shared: z.ZodObject): boolean {
  return name in shared.shape && shared.shape[name] === schema.shape[name];
}

/** zod types nested schemas as their common core; all our schemas are full ones. */
function asZod(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodType) return schema;
  throw new AppError(commonErrors.INTERNAL, "a field of the API is not a zod schema");
}
