/** Compiles a parsed node into a function. What it names is resolved here, so that a wrong name is found before it is used. */
import type { ASTNode } from "@marcbachmann/cel-js";
import type { Patterns } from "../regex/index.ts";
import { stepsPerFailure } from "./budget.ts";
import type { CelFunction } from "./cel-function.ts";
import { typeNames } from "./conversions.ts";
import { EvaluationFailure, InvalidExpression } from "./failures.ts";
import { globalFunctions, methods, namespacedFunctions } from "./functions.ts";
import { condition, macros } from "./macros.ts";
import { binaryOperators, negate, not } from "./operators.ts";
import type { Evaluate } from "./scope.ts";
import { hasField, index, optionalIndex, optionalSelect, select } from "./select.ts";
import { Double, isInt64, TypeName } from "./values.ts";

export interface CompileContext {
  readonly patterns: Patterns;
  /** Undefined: any. */
  readonly variables: readonly string[] | undefined;
}

export function compileNode(node: ASTNode, context: CompileContext): Evaluate {
  const evaluate = compileOperation(node, context);
  return (scope) => {
    scope.budget.charge(1);
    return evaluate(scope);
  };
}

function compileOperation(node: ASTNode, context: CompileContext): Evaluate {
  const compile = (child: ASTNode): Evaluate => compileNode(child, context);
  switch (node.op) {
    case "value":
      return literal(node.args, node.start);
    case "id":
      return identifier(node.args, node.start, context);
    case ".": {
      const [object, field] = [compile(node.args[0]), node.args[1]];
      return (scope) => select(object(scope), field);
    }
    case ".?": {
      const [object, field] = [compile(node.args[0]), node.args[1]];
      return (scope) => optionalSelect(object(scope), field);
    }
    case "[]": {
      const [object, key] = [compile(node.args[0]), compile(node.args[1])];
      return (scope) => index(object(scope), key(scope));
    }
    case "[?]": {
      const [object, key] = [compile(node.args[0]), compile(node.args[1])];
      return (scope) => optionalIndex(object(scope), key(scope));
    }
    case "list": {
      const items = node.args.map(compile);
      return (scope) => items.map((item) => item(scope));
    }
    case "map": {
      const entries = node.args.map(([key, value]) => [compile(key), compile(value)] as const);
      return (scope) => new Map(entries.map(([key, value]) => [key(scope), value(scope)]));
    }
    case "?:": {
      const [test, yes, no] = [compile(node.args[0]), compile(node.args[1]), compile(node.args[2])];
      return (scope) => (condition(test(scope)) ? yes(scope) : no(scope));
    }
    case "||":
      return logical(compile(node.args[0]), compile(node.args[1]), true);
    case "&&":
      return logical(compile(node.args[0]), compile(node.args[1]), false);
    case "!_": {
      const operand = compile(node.args);
      return (scope) => not(operand(scope));
    }
    case "-_": {
      const { args: negated } = node;
      // The smallest integer has no positive counterpart.
      if (negated.op === "value" && typeof negated.args === "bigint")
        return literal(-negated.args, node.start);
      const operand = compile(negated);
      return (scope) => negate(operand(scope));
    }
    case "call":
      return compileCall(node.args[0], node.args[1], node, context);
    case "rcall":
      return compileMethod(node.args[0], [node.args[1], ...node.args[2]], node, context);
    default: {
      const operator = binaryOperators.get(node.op);
      if (operator === undefined)
        throw new InvalidExpression(`${node.op} is not supported`, node.start);
      const [left, right] = [compile(node.args[0]), compile(node.args[1])];
      return (scope) => operator(left(scope), right(scope), scope.budget);
    }
  }
}

function literal(value: unknown, offset: number): Evaluate {
  const constant = typeof value === "number" ? new Double(value) : value;
  if (typeof constant === "bigint" && !isInt64(constant))
    throw new InvalidExpression("an integer exceeds 64 bits", offset);
  if (constant !== null && typeof constant === "object" && !(constant instanceof Double))
    throw new InvalidExpression("bytes and unsigned integers are not supported", offset);
  return () => constant;
}

/** A variable hides the type of the same name, as with the field `type` of a Secret. */
function identifier(name: string, offset: number, { variables }: CompileContext): Evaluate {
  const type = typeNames.has(name) ? new TypeName(name) : undefined;
  if (variables !== undefined && !variables.includes(name)) {
    if (type !== undefined) return () => type;
    throw new InvalidExpression(
      `there is no ${name}; there ${variables.length === 1 ? "is" : "are"} ${variables.join(", ")}`,
      offset,
    );
  }
  return (scope) => {
    const value = scope.lookup(name) ?? type;
    if (value !== undefined) return value;
    throw new EvaluationFailure(`there is no ${name}`);
  };
}

/** The value that decides wins over an error of the other operand, in any order. */
function logical(left: Evaluate, right: Evaluate, decisive: boolean): Evaluate {
  return (scope) => {
    let failure: EvaluationFailure;
    try {
      if (condition(left(scope)) === decisive) return decisive;
      return condition(right(scope));
    } catch (thrown) {
      if (!(thrown instanceof EvaluationFailure)) throw thrown;
      scope.budget.charge(stepsPerFailure);
      failure = thrown;
    }
    if (condition(right(scope)) === decisive) return decisive;
    throw failure;
  };
}

function compileCall(
  name: string,
  args: readonly ASTNode[],
  { start }: ASTNode,
  context: CompileContext,
): Evaluate {
  if (name !== "has") return callOf(name, globalFunctions.get(name), args, { start, context });
  const [argument] = args;
  if (args.length !== 1 || argument?.op !== ".")
    throw new InvalidExpression("has() takes one field, such as has(status.phase)", start);
  const [object, field] = [compileNode(argument.args[0], context), argument.args[1]];
  return (scope) => hasField(object(scope), field);
}

function compileMethod(
  name: string,
  all: readonly [ASTNode, ...ASTNode[]],
  { start }: ASTNode,
  context: CompileContext,
): Evaluate {
  const [receiver, ...args] = all;
  const isDeclared = receiver.op === "id" && context.variables?.includes(receiver.args) === true;
  const namespace = receiver.op === "id" && !isDeclared ? receiver.args : "";
  if (namespace === "cel" && name === "bind" && args.length === 3)
    return macroOf("bind/3", { receiver: args[1], args: [args[0], args[2]], start, context });
  const namespaced = namespacedFunctions.get(`${namespace}.${name}`);
  if (namespaced !== undefined)
    return callOf(`${namespace}.${name}`, namespaced, args, { start, context });
  const macro = `${name}/${args.length}`;
  if (macro !== "bind/3" && macros.has(macro))
    return macroOf(macro, { receiver, args, start, context });
  return callOf(name, methods.get(name), args, { start, context, receiver });
}

interface MacroCall {
  readonly receiver: ASTNode | undefined;
  readonly args: readonly (ASTNode | undefined)[];
  readonly start: number;
  readonly context: CompileContext;
}

function macroOf(name: string, { receiver, args, start, context }: MacroCall): Evaluate {
  const macro = macros.get(name);
  const [variable, first, second] = args;
  if (macro === undefined || receiver === undefined || first === undefined)
    throw new InvalidExpression(`${name} is not supported`, start);
  if (variable?.op !== "id")
    throw new InvalidExpression("the first argument of a macro is the name of a variable", start);
  const { variables } = context;
  const inner = {
    ...context,
    variables: variables === undefined ? undefined : [...variables, variable.args],
  };
  const parts = {
    receiver: compileNode(receiver, context),
    variable: variable.args,
    bodies: [
      compileNode(first, inner),
      ...(second === undefined ? [] : [compileNode(second, inner)]),
    ] as const,
  };
  return (scope) => macro(parts, scope);
}

interface CallPlace {
  readonly start: number;
  readonly context: CompileContext;
  readonly receiver?: ASTNode;
}

function callOf(
  name: string,
  called: CelFunction | undefined,
  args: readonly ASTNode[],
  { start, context, receiver }: CallPlace,
): Evaluate {
  if (called === undefined)
    throw new InvalidExpression(
      receiver === undefined ? `there is no function ${name}()` : `there is no method ${name}()`,
      start,
    );
  if (args.length < called.minArgs || args.length > called.maxArgs)
    throw new InvalidExpression(`${name}() does not take ${args.length} arguments`, start);
  const { patterns } = context;
  const all = [...(receiver === undefined ? [] : [receiver]), ...args].map((each) =>
    compileNode(each, context),
  );
  return (scope) =>
    called.call(
      all.map((each) => each(scope)),
      { budget: scope.budget, patterns },
    );
}
