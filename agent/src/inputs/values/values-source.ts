/** Parses the values under a key of a ConfigMap or Secret. */
import type { ValuesSource } from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isMap, type Values } from "@flotilla/shared/values";
import { agentErrors } from "../../base/errors/index.ts";

/** A ConfigMap or Secret. */
export interface SourceObject {
  /** In base64 for a Secret. */
  readonly data?: Readonly<Record<string, string>> | undefined;
  /** The binary data of a ConfigMap, in base64. */
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
}

/** Reads YAML that a tenant wrote, as Helm does, in a process of its own if it is long. Throws LIMIT_EXCEEDED. */
export type ReadYaml = (text: string, name: string) => Promise<unknown>;

/**
 * `where`: the object, for messages. Empty text has no values. Throws VALUES_SOURCE_MISSING for a missing key and
 * VALUES_SOURCE_INVALID for text that is not a values file, and LIMIT_EXCEEDED; the messages have none of the text.
 */
export async function parseValuesSource(
  source: Pick<ValuesSource, "kind" | "key">,
  object: SourceObject,
  { where, readYaml }: { readonly where: string; readonly readYaml: ReadYaml },
): Promise<Values> {
  const text = textUnder(source, object);
  if (text === undefined) throw missingKey(source, where);
  let read: unknown;
  try {
    read = await readYaml(text, `key ${source.key} of ${where}`);
  } catch (thrown) {
    if (AppError.from(thrown).code === agentErrors.LIMIT_EXCEEDED.code) throw thrown;
    throw new AppError(agentErrors.VALUES_SOURCE_INVALID, `valuesFrom: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  if (read === null || read === undefined) return {};
  if (isMap(read)) return read;
  throw new AppError(
    agentErrors.VALUES_SOURCE_INVALID,
    `valuesFrom: key ${source.key} of ${where} has ${Array.isArray(read) ? "a list" : "a scalar"}, expected a map`,
  );
}

export function missingKey({ key }: Pick<ValuesSource, "key">, where: string): AppError {
  return new AppError(
    agentErrors.VALUES_SOURCE_MISSING,
    `key ${key} not found in ${where}, which valuesFrom references; the agent continues as soon as it exists`,
  );
}

/** The text under the key; undefined if there is none. */
export function textUnder(
  { kind, key }: Pick<ValuesSource, "kind" | "key">,
  { data = {}, binaryData = {} }: SourceObject,
): string | undefined {
  if (Object.hasOwn(data, key)) return kind === "Secret" ? decoded(data[key]) : data[key];
  return Object.hasOwn(binaryData, key) ? decoded(binaryData[key]) : undefined;
}

function decoded(base64 = ""): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
