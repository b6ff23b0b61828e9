/** The difference between a live object and the desired one, as a unified diff of YAML. Pure. */
import { formatYaml } from "@flotilla/shared/yaml";
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff";

type Json = Readonly<Record<string, unknown>>;

/** The agent does other things meanwhile for no longer than this. */
const diffTimeoutMs = 200;

/**
 * "" if there is none. `live`: undefined if it does not exist. Fields that only the API server writes are left out, and so are
 * the values of Secrets: only which of them differ is shown.
 */
export function objectDiff(title: string, live: Json | undefined, desired: Json): string {
  const [before, after] = masked(
    live === undefined ? undefined : comparable(live),
    comparable(desired),
  );
  const patch = structuredPatch(
    `live ${title}`,
    `desired ${title}`,
    before === undefined ? "" : formatYaml(before),
    formatYaml(after),
    undefined,
    undefined,
    { context: 3, timeout: diffTimeoutMs },
  );
  if (patch === undefined) return `# ${title}: differs in too many lines to show them\n`;
  return patch.hunks.length === 0 ? "" : formatPatch(patch, FILE_HEADERS_ONLY);
}

/** Written by the API server, or, in case of the annotation, a copy that kubectl has made of all values. */
const serverFields = [
  "managedFields",
  "resourceVersion",
  "generation",
  "uid",
  "creationTimestamp",
  "selfLink",
];
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function comparable({ status: _, ...object }: Json): Json {
  const { metadata } = object;
  if (!isMap(metadata)) return object;
  const { annotations } = metadata;
  return {
    ...object,
    metadata: {
      ...without(metadata, serverFields),
      ...(isMap(annotations) && { annotations: without(annotations, [lastApplied]) }),
    },
  };
}

function masked(live: Json | undefined, desired: Json): readonly [Json | undefined, Json] {
  if (desired["kind"] !== "Secret") return [live, desired];
  const [before, after] = [live === undefined ? {} : secretValues(live), secretValues(desired)];
  const mask = (object: Json, values: Json, others: Json, side: string): Json => ({
    ...without(object, ["stringData"]),
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        !(key in others) || others[key] === value ? "***" : `*** (${side})`,
      ]),
    ),
  });
  return [
    live === undefined ? undefined : mask(live, before, after, "live"),
    mask(desired, after, before, "desired"),
  ];
}

/** In base64. */
function secretValues({ data, stringData }: Json): Json {
  const texts = isMap(stringData) ? Object.entries(stringData) : [];
  return {
    ...(isMap(data) ? data : {}),
    ...Object.fromEntries(
      texts.map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]),
    ),
  };
}

function without(map: Json, keys: readonly string[]): Json {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
