/** Where we read YAML otherwise than Go's sigs.k8s.io/yaml, one line for each text. */

import type { Answers } from "../../../charts/version/testing/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { canonicalJson, parseExact } from "../../json/index.ts";
import { parseHelmYaml, toHelmJson } from "../index.ts";

type YamlAnswer = NonNullable<Answers["yaml"]>[number];

/**
 * Compares values, and which texts are rejected; the latter not when `rejections` are "free", for texts that are broken
 * somewhere: finding structure in those is up to the package.
 */
export function yamlDisagreements(
  texts: readonly string[],
  answers: readonly YamlAnswer[],
  { rejections }: { readonly rejections: "same" | "free" },
): readonly string[] {
  if (texts.length !== answers.length)
    return [`${texts.length} questions, ${answers.length} answers`];
  return texts.flatMap((text, at) => {
    if (answers[at]?.unstable === true) return [];
    const ours = ourResult(text);
    const theirs = goResult(answers[at]);
    const passes = rejections === "free" && (ours === rejected || theirs === rejected);
    return ours === theirs || passes
      ? []
      : [`${JSON.stringify(text)}: ours ${ours}, Go's ${theirs}`];
  });
}

const rejected = "rejected";

/** Our result for a text, through the JSON that Helm would get. */
function ourResult(text: string): string {
  try {
    return canonicalJson(parseExact(toHelmJson(parseHelmYaml(text, { name: "values.yaml" }))));
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === "YAML_INVALID") return rejected;
    throw thrown;
  }
}

function goResult(answer: YamlAnswer | undefined): string {
  return answer?.json === undefined ? rejected : canonicalJson(parseExact(answer.json));
}
