/**
 * Regular expressions of Policies. Fleet uses Go's (RE2), and so does this: same syntax, same results, and linear time,
 * since everything here runs on the one event loop that serves the fleet. RE2 alone does not bound the factor:
 * `(a?){1000}` compiles to a program of thousands of steps, each of which may run for each character. So compiling and
 * matching have a budget; a pattern beyond it is rejected and allows nothing.
 */
import { createLruCache } from "@flotilla/shared/cache";
import { messageOf } from "@flotilla/shared/errors";
import { RE2JS } from "re2js";

/** "yes", "no", or a sentence: why the pattern cannot be used. */
export type Match =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  | { readonly kind: "unusable"; readonly why: string };

export interface Patterns {
  /** Whether the pattern matches the whole of the text. */
  match(pattern: string, text: string): Match;
}

const longestPattern = 2_048;

/** Length times what its counted repetitions multiply it by: about 30 ms of compiling. */
const compileBudget = 50_000;

/** Steps of the program times characters of the text: about 20 ms of matching. */
const matchBudget = 500_000;

const keptPatterns = 256;
const keptAnswers = 4_096;

type Compiled = { readonly regex: RE2JS } | { readonly why: string };

/** Remembers what it compiled and what it answered. */
export function createPatterns(): Patterns {
  const compiled = createLruCache<Compiled>(keptPatterns);
  const answers = createLruCache<Match>(keptAnswers);

  function compile(pattern: string): Compiled {
    const known = compiled.get(pattern);
    if (known !== undefined) return known;
    const fresh = compileOnce(pattern);
    compiled.set(pattern, fresh);
    return fresh;
  }

  return {
    match(pattern, text) {
      const key = `${pattern.length} ${pattern}${text}`;
      const known = answers.get(key);
      if (known !== undefined) return known;
      const answer = matchOnce(compile(pattern), text);
      answers.set(key, answer);
      return answer;
    },
  };
}

function compileOnce(pattern: string): Compiled {
  const size = pattern.length * repetitions(pattern);
  if (pattern.length > longestPattern || size > compileBudget)
    return { why: "it is too long, or its repetitions {n,m} are too many" };
  try {
    return { regex: RE2JS.compile(pattern) };
  } catch (thrown) {
    return { why: messageOf(thrown) };
  }
}

function matchOnce(compiled: Compiled, text: string): Match {
  if ("why" in compiled) return { kind: "unusable", why: compiled.why };
  if (compiled.regex.programSize() * text.length > matchBudget)
    return {
      kind: "unusable",
      why: `it is too large to be compared with a text of ${text.length} characters`,
    };
  return { kind: compiled.regex.testExact(text) ? "yes" : "no" };
}

/** The sum of all counts; RE2 itself allows nested ones no more than 1,000 together. */
function repetitions(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)];
  return counts.reduce((sum, [, from, to]) => sum + Number(to || from), 1);
}
