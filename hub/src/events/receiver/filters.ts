/** The filters of Receivers in CEL, compiled once for all calls. */
import { createLruCache } from "@flotilla/shared/cache";
import {
  type Allowance,
  type Compiled,
  compileCel,
  stepsPerSourceByte,
} from "@flotilla/shared/cel";
import type { KubeObject } from "@flotilla/shared/kube/objects";

/** An object as filters see it, as `res`: Flux has only its metadata. */
export interface FilteredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: KubeObject["metadata"];
}

export type FilterResult =
  | { readonly kind: "selected" }
  | { readonly kind: "filtered out" }
  | { readonly kind: "failed"; readonly why: string };

/** For all filters and objects of one call: about 50 ms. The namespace has a limit over time (call-budgets.ts). */
export const stepsOfCall = 1_000_000;

export const tooLong =
  "the filters of this call, or of all Receivers of the namespace, take too long; select fewer objects, or write simpler filters";

const variables = ["req", "res"];
const keptExpressions = 256;

export interface Filters {
  /** Why it is not a filter, with the place in the source; undefined for a valid one. */
  invalid(source: string): string | undefined;
  /** Whether all filters select the object. Those that are absent or empty do. */
  select(
    sources: readonly (string | undefined)[],
    values: { readonly req: unknown; readonly res: FilteredObject },
    allowance: Allowance,
  ): FilterResult;
}

export function createFilters(): Filters {
  const cache = createLruCache<Compiled>(keptExpressions);

  /** Undefined: the allowance has no steps left for it. */
  function compileWithin(source: string, allowance: Allowance): Compiled | undefined {
    if (cache.get(source) === undefined) {
      if (allowance.steps <= 0) return undefined;
      allowance.steps -= source.length * stepsPerSourceByte;
    }
    return compile(source);
  }

  function compile(source: string): Compiled {
    const known = cache.get(source);
    if (known !== undefined) return known;
    const compiled = compileCel(source, { variables });
    cache.set(source, compiled);
    return compiled;
  }

  return {
    invalid(source) {
      const compiled = compile(source);
      return compiled.kind === "invalid" ? compiled.why : undefined;
    },
    select(sources, values, allowance) {
      for (const source of sources) {
        if (source === undefined || source === "") continue;
        const compiled = compileWithin(source, allowance);
        if (compiled === undefined) return failed(tooLong);
        if (compiled.kind === "invalid") return failed(`the filter is invalid: ${compiled.why}`);
        const evaluated = compiled.expression.evaluate({ ...values }, allowance);
        switch (evaluated.kind) {
          case "failed":
            return failed(`the filter cannot be evaluated: ${evaluated.why}`);
          case "deferred":
            return failed(tooLong);
          case "value":
            if (!evaluated.value) return { kind: "filtered out" };
        }
      }
      return { kind: "selected" };
    },
  };
}

function failed(why: string): FilterResult {
  return { kind: "failed", why };
}
