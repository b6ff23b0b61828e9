/** The change that `flotilla plan` asks about: `--version`, `-f` and `--set`, which mean what they mean for `helm upgrade`. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { canonicalJson } from "@flotilla/shared/json";
import { isMap, mergeValues, type Values } from "@flotilla/shared/values";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { cliErrors } from "../errors.ts";

export interface ChangeOptions {
  /** Instead of the app's: a version or a constraint. */
  readonly version?: string;
  /** Files with values, `-` for standard input. */
  readonly values?: readonly string[];
  /** Lines as Helm's `--set` has them. */
  readonly set?: readonly string[];
}

/**
 * The body of the request; undefined: nothing is changed. Values of later files replace values of earlier ones; the hub merges them
 * over the app's, and then sets the lines. Throws VALUES_FILE_INVALID, with the file.
 */
export async function proposedChange({
  version,
  values: files,
  set,
}: ChangeOptions): Promise<string | undefined> {
  if (version === undefined && files === undefined && set === undefined) return undefined;
  let values: Values | undefined;
  for (const file of files ?? []) values = mergeValues(values ?? {}, await readValues(file));
  return canonicalJson({
    ...(version !== undefined && { version }),
    ...(values !== undefined && { values }),
    ...(set !== undefined && { set }),
  });
}

async function readValues(file: string): Promise<Values> {
  const name = file === "-" ? "standard input" : file;
  const content = await read(file).catch((thrown: unknown) => {
    throw new AppError(
      cliErrors.VALUES_FILE_INVALID,
      `read the values of ${name}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  });
  // Its errors have the name, the line and the cause, and nothing of the text.
  const values = parseHelmYaml(content, { name }) ?? {};
  if (isMap(values)) return values;
  throw new AppError(
    cliErrors.VALUES_FILE_INVALID,
    `read the values of ${name}: they are not a map`,
  );
}

function read(file: string): Promise<string> {
  return file === "-" ? text(process.stdin) : readFile(file, "utf8");
}
