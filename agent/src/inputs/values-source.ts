/** The values that a ConfigMap or a Secret holds under a key. Pure. */
import type { ValuesSource } from "@flotilla/shared/content/content.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { isMap, type Values } from "@flotilla/shared/values/merge-values.ts";
import { parseHelmYaml } from "@flotilla/shared/yaml/helm-yaml.ts";
import { agentErrors } from "../errors.ts";

/** As Kubernetes has them. */
export interface SourceObject {
  /** Base64 in a Secret, text in a ConfigMap. */
  readonly data?: Readonly<Record<string, string>> | undefined;
  /** A ConfigMap's, in base64. */
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
}

/**
 * `where`: what messages call the object. An empty text holds no values. Throws VALUES_SOURCE_MISSING for a key that is
 * not there and VALUES_SOURCE_INVALID for a text that is no values file, without a word of what it holds.
 */
export function valuesIn(source: ValuesSource, object: SourceObject, where: string): Values {
  const text = textIn(source, object);
  if (text === undefined) {
    throw new AppError(
      agentErrors.VALUES_SOURCE_MISSING,
      `key ${source.key} is missing from ${where}, can't use it in valuesFrom`,
    );
  }
  let read: unknown;
  try {
    read = parseHelmYaml(text, { name: `key ${source.key} of ${where}` });
  } catch (thrown) {
    throw new AppError(agentErrors.VALUES_SOURCE_INVALID, `valuesFrom: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  if (read === null || read === undefined) return {};
  if (isMap(read)) return read;
  throw new AppError(
    agentErrors.VALUES_SOURCE_INVALID,
    `valuesFrom: key ${source.key} of ${where} holds ${Array.isArray(read) ? "a list" : "a single value"} where values have names`,
  );
}

function textIn(
  { kind, key }: ValuesSource,
  { data = {}, binaryData = {} }: SourceObject,
): string | undefined {
  if (Object.hasOwn(data, key)) return kind === "Secret" ? decoded(data[key]) : data[key];
  return Object.hasOwn(binaryData, key) ? decoded(binaryData[key]) : undefined;
}

function decoded(base64 = ""): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
