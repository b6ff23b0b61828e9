/** The values of a release as a table, each with its origin. Pure. */
import * as z from "zod";
import { formatTable } from "./format-table.ts";

const objectSchema = z.object({
  kind: z.enum(["ConfigMap", "Secret"]),
  namespace: z.string().optional(),
  name: z.string(),
  key: z.string(),
});
const originSchema = z.union([
  objectSchema,
  z.object({ kind: z.literal("target"), name: z.string() }),
  z.object({ kind: z.enum(["chart", "spec", "templateValues"]) }),
]);
const entrySchema = z.looseObject({
  path: z.string(),
  value: z.unknown().optional(),
  masked: z.boolean().optional(),
  origin: originSchema,
});

/** The limit of one value; `-o json` has all of it. */
const maxValueChars = 80;

/** `lines`: JSON, one value each. */
export function valueTable(lines: string): string {
  const entries = lines
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => entrySchema.parse(JSON.parse(line)));
  if (entries.length === 0) return "no values\n";
  return formatTable(
    ["VALUE", "IS", "FROM"],
    entries.map(({ path, value, masked, origin }) => [
      path,
      masked === true ? "***" : shortened(JSON.stringify(value)),
      originText(origin),
    ]),
  );
}

function shortened(json: string): string {
  return json.length > maxValueChars ? `${json.slice(0, maxValueChars)}…` : json;
}

function originText(origin: z.infer<typeof originSchema>): string {
  switch (origin.kind) {
    case "chart":
      return "the chart";
    case "spec":
      return "values";
    case "templateValues":
      return "templateValues";
    case "target":
      return origin.name;
    default: {
      const { kind, namespace, name, key } = origin;
      const where = namespace === undefined ? `${name} of the hub` : `${namespace}/${name}`;
      return `${kind} ${where}, ${key}`;
    }
  }
}
