/** The values files of a chart, merged into one that replaces its `values.yaml`. Pure. */
import { AppError, messageOf } from "../../../runtime/errors/index.ts";
import { parseHelmYaml, toHelmJson } from "../../../text/yaml/index.ts";
import { isMap, mergeValues, type Values } from "../../values/index.ts";
import { chartErrors } from "../index.ts";

export interface ValuesFile {
  readonly path: string;
  /** Undefined: it does not exist. */
  readonly text: string | undefined;
}

/** The text of `values.yaml`; the last file wins. Throws CHART_VALUES_FILE, which names the file. */
export function mergeValuesFiles(
  files: readonly ValuesFile[],
  { ignoreMissing }: { readonly ignoreMissing: boolean },
): string {
  let merged: Values = {};
  for (const { path, text } of files) {
    if (text === undefined) {
      if (ignoreMissing) continue;
      throw failed(`the values file ${JSON.stringify(path)} does not exist`);
    }
    merged = mergeValues(merged, parse(path, text));
  }
  return `${toHelmJson(merged)}\n`;
}

function parse(path: string, text: string): Values {
  let values: unknown;
  try {
    values = parseHelmYaml(text.replace(/^\ufeff/, ""), { name: path }) ?? {};
  } catch (thrown) {
    throw failed(messageOf(thrown));
  }
  if (!isMap(values)) throw failed(`the values file ${JSON.stringify(path)} is not a map`);
  return values;
}

function failed(message: string): AppError {
  return new AppError(chartErrors.CHART_VALUES_FILE, message);
}
