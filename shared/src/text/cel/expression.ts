/**
 * Expressions in CEL of users, such as `healthCheckExprs` and `readyExpr`. A library parses them, and this package evaluates
 * them, because none has a limit for an evaluation (docs/adr/0032).
 */
import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { createPatterns } from "../regex/index.ts";
import { type Allowance, type Budget, createBudget } from "./budget.ts";
import { compileNode } from "./compile-node.ts";
import { BudgetExceeded, EvaluationFailure, InvalidExpression } from "./failures.ts";
import { maxDepth, maxNodes, maxSourceBytes, maxSteps } from "./limits.ts";
import { type Evaluate, rootScope } from "./scope.ts";
import { kindOf } from "./values.ts";

/** The variables of `readyExpr`. */
export const readyVariables = ["self", "dep"] as const;

export interface Expression {
  /** With JSON as variables. An error is a sentence without the values of the variables. */
  evaluate(variables: Readonly<Record<string, unknown>>, allowance?: Allowance): Evaluated;
}

export type Evaluated =
  | { readonly kind: "value"; readonly value: boolean }
  | { readonly kind: "failed"; readonly why: string }
  /** Not evaluated: the allowance has no steps left. */
  | { readonly kind: "deferred" };

export type Compiled =
  | { readonly kind: "compiled"; readonly expression: Expression }
  /** `why`: a sentence with the place in the source. */
  | { readonly kind: "invalid"; readonly why: string };

export interface CompileOptions {
  /** Absent: any names; one that is not there is an error of the evaluation. */
  readonly variables?: readonly string[];
  /** The CPU time of this thread, in ms. */
  readonly cpuMs?: () => number;
}

/** An expression whose result is true or false. */
export function compileCel(source: string, options: CompileOptions = {}): Compiled {
  const { variables, cpuMs = threadCpuMs } = options;
  const bytes = Buffer.byteLength(source);
  if (bytes > maxSourceBytes)
    return { kind: "invalid", why: `it has ${bytes} bytes; the limit is ${maxSourceBytes}` };
  try {
    const node = parse(source);
    const evaluate = compileNode(node, { patterns: createPatterns(), variables });
    return {
      kind: "compiled",
      expression: {
        evaluate(given, allowance = { steps: maxSteps }) {
          if (allowance.steps <= 0) return { kind: "deferred" };
          const attempt = (): Evaluated | BudgetExceeded => {
            const budget = createBudget(cpuMs);
            const evaluated = run(evaluate, given, budget);
            allowance.steps -= budget.used;
            return evaluated;
          };
          const first = attempt();
          // A garbage collection in between may have taken the time.
          const evaluated = isOutOfTime(first) ? attempt() : first;
          return evaluated instanceof BudgetExceeded
            ? { kind: "failed", why: evaluated.message }
            : evaluated;
        },
      },
    };
  } catch (thrown) {
    return { kind: "invalid", why: reasonOf(thrown, source) };
  }
}

function parse(source: string): ASTNode {
  const environment = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: maxNodes,
      maxDepth,
      maxListElements: maxNodes,
      maxMapEntries: maxNodes,
      maxCallArguments: maxNodes,
    },
  });
  const { ast } = environment.parse(source);
  if (isNeverBool(ast))
    throw new InvalidExpression("its result is neither true nor false", ast.start);
  return ast;
}

const neverBool: ReadonlySet<string> = new Set(["list", "map", "-_", "+", "-", "*", "/", "%"]);

function isNeverBool({ op, args }: ASTNode): boolean {
  return op === "value" ? typeof args !== "boolean" : neverBool.has(op);
}

function reasonOf(thrown: unknown, source: string): string {
  if (thrown instanceof InvalidExpression)
    return `${thrown.message} ${placeOf(thrown.offset, source)}`;
  if (thrown instanceof ParseError && thrown.code === "limit_exceeded")
    return `it has more than ${maxNodes} parts, or is nested too deeply ${placeOf(thrown.range?.start ?? 0, source)}`;
  if (thrown instanceof ParseError)
    return `${thrown.summary} ${placeOf(thrown.range?.start ?? 0, source)}`;
  // The parser throws it for a source that is nested too deeply; whatever else a source of a tenant causes must not end the process.
  return thrown instanceof RangeError ? "it is nested too deeply" : "it cannot be compiled";
}

function placeOf(offset: number, source: string): string {
  const before = source.slice(0, offset).split("\n");
  return `(line ${before.length}, column ${(before.at(-1) ?? "").length + 1})`;
}

function run(
  evaluate: Evaluate,
  variables: Readonly<Record<string, unknown>>,
  budget: Budget,
): Evaluated | BudgetExceeded {
  try {
    const value = evaluate(rootScope(budget, variables));
    if (typeof value === "boolean") return { kind: "value", value };
    return { kind: "failed", why: `its result is a ${kindOf(value)} and not a bool` };
  } catch (thrown) {
    if (thrown instanceof BudgetExceeded) return thrown;
    if (thrown instanceof EvaluationFailure) return { kind: "failed", why: thrown.message };
    // Comparing objects throws it; whatever else an expression of a tenant causes must not end the process.
    const why = thrown instanceof RangeError ? "its values are nested too deeply" : "an error";
    return { kind: "failed", why };
  }
}

function isOutOfTime(evaluated: Evaluated | BudgetExceeded): boolean {
  return evaluated instanceof BudgetExceeded && evaluated.limit === "time";
}

/** Not the wall clock: other processes on a busy machine must not change a result. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
