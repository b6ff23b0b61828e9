/**
 * Regular expressions of users. Fleet, Flux and Kubernetes use Go's (RE2), and so does this: same syntax, same results, and
 * linear time, since everything here runs on the one event loop of a process. RE2 alone does not bound the factor:
 * `(a?){1000}` compiles to a program of thousands of steps, each of which may run for each character. So compiling and
 * matching have a budget; a pattern beyond it is rejected and matches nothing.
 */

import { RE2JS } from "re2js";
import { createLruCache } from "../../runtime/cache/index.ts";
import { messageOf } from "../../runtime/errors/index.ts";
import type { PatternBudget } from "./budget.ts";

/** "yes", "no", or a sentence: why the pattern cannot be used. */
export type Match =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  | { readonly kind: "unusable"; readonly why: string };

/** "spent": the budget has no room for it. */
export type MatchWithin = Match | { readonly kind: "spent" };

export interface Patterns {
  /**
   * Whether the pattern matches a part of the text. `charge` is called with the work before it is done: compiling 1 unit takes
   * about 0.6 µs, matching 1 unit 0.04 µs. What it throws ends the call.
   */
  find(pattern: string, text: string, charge: ChargeWork): Match;
  /** Whether the pattern matches the whole of the text, within a budget for several calls; what was answered costs nothing. */
  match(pattern: string, text: string, budget: PatternBudget): MatchWithin;
  /** Whether the pattern matches a part of the text, likewise. */
  findWithin(pattern: string, text: string, budget: PatternBudget): MatchWithin;
}

export interface ChargeWork {
  compiling(units: number): void;
  matching(units: number): void;
}

const longestPattern = 2_048;

/** Length times what its counted repetitions multiply it by: about 30 ms of compiling. */
const compileBudget = 50_000;

/** Steps of the program times characters of the text: about 20 ms of matching. */
const matchBudget = 500_000;

/** `\pL` has hundreds of ranges, which are merged for each place in the text, but not for each repetition. */
const sizeOfClass = 250;

/** What compiling one unit takes, in units of matching. */
export const unitsOfCompiling = 15;

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

  /** Undefined: the budget has no room for it. */
  function compileWithin(pattern: string, budget: PatternBudget): Compiled | undefined {
    const isKnown = compiled.get(pattern) !== undefined || pattern.length > longestPattern;
    const units = isKnown ? 1 : Math.min(compileSize(pattern), compileBudget) * unitsOfCompiling;
    return budget.take(units) ? compile(pattern) : undefined;
  }

  function within(
    pattern: string,
    text: string,
    { of, budget }: { readonly of: "part" | "whole"; readonly budget: PatternBudget },
  ): MatchWithin {
    const regex = compileWithin(pattern, budget);
    if (regex === undefined) return { kind: "spent" };
    const units = "regex" in regex ? Math.min(matchSize(regex.regex, text), matchBudget) : 0;
    return budget.take(units) ? matchOnce(regex, text, of) : { kind: "spent" };
  }

  function match(pattern: string, text: string, budget: PatternBudget): MatchWithin {
    const key = `${pattern.length} ${pattern}${text}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = within(pattern, text, { of: "whole", budget });
    if (answer.kind !== "spent") answers.set(key, answer);
    return answer;
  }

  return {
    match,
    findWithin: (pattern, text, budget) => within(pattern, text, { of: "part", budget }),
    find(pattern, text, charge) {
      charge.compiling(compileSize(pattern));
      const regex = compile(pattern);
      if ("regex" in regex) charge.matching(matchSize(regex.regex, text));
      return matchOnce(regex, text, "part");
    },
  };
}

function compileOnce(pattern: string): Compiled {
  if (pattern.length > longestPattern || compileSize(pattern) > compileBudget)
    return { why: "it is too long, or its repetitions {n,m} are too many" };
  try {
    return { regex: RE2JS.compile(pattern) };
  } catch (thrown) {
    return { why: messageOf(thrown) };
  }
}

function matchOnce(compiled: Compiled, text: string, of: "part" | "whole"): Match {
  if ("why" in compiled) return { kind: "unusable", why: compiled.why };
  const { regex } = compiled;
  if (matchSize(regex, text) > matchBudget)
    return {
      kind: "unusable",
      why: `it is too large to be compared with a text of ${text.length} characters`,
    };
  return { kind: (of === "whole" ? regex.testExact(text) : regex.test(text)) ? "yes" : "no" };
}

/** In units of compiling. */
export function compileSize(pattern: string): number {
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  return pattern.length * repetitions(pattern) + classes * sizeOfClass;
}

/** In units of matching. */
export function matchSize(regex: RE2JS, text: string): number {
  return regex.programSize() * text.length;
}

/** The sum of all counts; RE2 itself allows nested ones no more than 1,000 together. */
function repetitions(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)];
  return counts.reduce((sum, [, from, to]) => sum + Number(to || from), 1);
}
