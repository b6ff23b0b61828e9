/**
 * The rules of `.helmignore`, as Helm 4 evaluates them: in order, up to the first that matches. A rule that begins with `!`
 * ignores everything that it does not match. Pure.
 */
import { posix } from "node:path";
import { AppError } from "../../../runtime/errors/index.ts";
import { chartErrors } from "../index.ts";
import { parseFilePattern } from "./file-pattern.ts";

export interface HelmIgnore {
  /** `path`: from the root of the chart. The files of an ignored directory are left out with it. */
  ignores(path: string, isDirectory: boolean): boolean;
}

interface Rule {
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
  matches(path: string): boolean;
}

/** Hidden files among templates are ignored in every chart. */
const defaultRule = "templates/.?*";

/** `text`: of the file; "" without one. Throws CHART_BUILD for rules that Helm rejects. */
export function parseHelmIgnore(text: string): HelmIgnore {
  const lines = text.replace(/^\ufeff/, "").split("\n");
  const rules = [...lines, defaultRule].flatMap((line) => parseRule(line.trim()));
  return {
    ignores(path, isDirectory) {
      for (const { isNegated, isForDirectories, matches } of rules) {
        const isMatch = (isDirectory || !isForDirectories) && matches(path);
        if (isMatch !== isNegated) return true;
      }
      return false;
    },
  };
}

function parseRule(line: string): readonly Rule[] {
  if (line === "" || line.startsWith("#")) return [];
  if (line.includes("**")) throw invalid(line, "** is not supported");
  if (parseFilePattern(line) === undefined)
    throw invalid(line, "it is not a pattern of file names");
  const isNegated = line.startsWith("!");
  const named = isNegated ? line.slice(1) : line;
  const isForDirectories = named.endsWith("/");
  const rule = isForDirectories ? named.slice(0, -1) : named;
  const matches = parseFilePattern(rule.startsWith("/") ? rule.slice(1) : rule) ?? (() => false);
  return [
    {
      isNegated,
      isForDirectories,
      matches: rule.includes("/") ? matches : (path) => matches(posix.basename(path)),
    },
  ];
}

function invalid(line: string, why: string): AppError {
  return new AppError(
    chartErrors.CHART_BUILD,
    `read .helmignore: the rule ${JSON.stringify(line)} is rejected by Helm: ${why}`,
  );
}
