/** `healthCheckExprs`: the status of objects by expressions, with Flux's rules. */
import {
  type Allowance,
  type Compiled,
  compileCel,
  stepsPerSourceByte,
} from "@flotilla/shared/cel";
import type { HealthCheck } from "@flotilla/shared/content";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { current, fieldsOf, inProgress, type ObjectStatus } from "./rules/index.ts";

type Kind = Pick<Resource<KubeObject>, "group" | "version" | "kind">;

/** For all expressions of a release in each second, compiling them included: about 7 % of a CPU. */
const stepsPerWindow = 1_000_000;
const windowMs = 1_000;

/** In the order of their evaluation. */
const expressions = ["inProgress", "failed", "current"] as const;

type ExpressionField = (typeof expressions)[number];

/** A release with many objects, or with objects that change all the time, does not keep the agent busy: the rest waits a second. */
export class HealthChecks {
  readonly #checks: readonly HealthCheck[];
  readonly #clock: Pick<Clock, "now">;
  readonly #allowance: Allowance = { steps: stepsPerWindow };
  readonly #compiled = new Map<HealthCheck, Map<ExpressionField, Compiled>>();
  /** Objects of a cache are never changed in place. */
  readonly #statuses = new WeakMap<KubeObject, ObjectStatus>();
  #windowEndsAt: number;
  #hasDeferred = false;

  constructor(checks: readonly HealthCheck[], clock: Pick<Clock, "now">) {
    this.#checks = checks;
    this.#clock = clock;
    this.#windowEndsAt = clock.now() + windowMs;
  }

  /** Whether expressions decide about this kind. */
  has(kind: Pick<Kind, "group" | "kind">): boolean {
    return this.#checkOf(kind) !== undefined;
  }

  /** Undefined: the rules for the kind apply. An object is evaluated once. */
  statusOf(kind: Kind, object: KubeObject): ObjectStatus | undefined {
    const check = this.#checkOf(kind);
    if (check === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    const known = this.#statuses.get(object);
    if (known !== undefined) return known;
    this.#refill();
    const status = evaluate(check, {
      kind,
      object,
      allowance: this.#allowance,
      compiledOf: (...expression) => this.#compiledOf(...expression),
    });
    if (status === undefined) {
      this.#hasDeferred = true;
      return inProgress("its health checks are evaluated within seconds");
    }
    this.#statuses.set(object, status);
    return status;
  }

  /** The time at which objects can be evaluated that were not since the last call, ms since 1970; undefined: all were. */
  takeDeferral(): number | undefined {
    const until = this.#hasDeferred ? this.#windowEndsAt : undefined;
    this.#hasDeferred = false;
    return until;
  }

  /** An entry for the kind takes precedence over one for its whole group. */
  #checkOf({ group, kind }: Pick<Kind, "group" | "kind">): HealthCheck | undefined {
    const ofGroup = this.#checks.filter((check) => check.group === group);
    return (
      ofGroup.find((check) => check.kind === kind) ??
      ofGroup.find((check) => check.kind === undefined)
    );
  }

  /** One expression, compiled when it is first evaluated. Undefined: not yet. */
  #compiledOf(check: HealthCheck, field: ExpressionField, source: string): Compiled | undefined {
    const fields = this.#compiled.get(check) ?? new Map<ExpressionField, Compiled>();
    this.#compiled.set(check, fields);
    const known = fields.get(field);
    if (known !== undefined) return known;
    if (this.#allowance.steps <= 0) return undefined;
    this.#allowance.steps -= Buffer.byteLength(source) * stepsPerSourceByte;
    const fresh = compileCel(source);
    fields.set(field, fresh);
    return fresh;
  }

  #refill(): void {
    const now = this.#clock.now();
    if (now < this.#windowEndsAt) return;
    this.#windowEndsAt = now + windowMs;
    this.#allowance.steps = stepsPerWindow;
  }
}

interface Evaluation {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly allowance: Allowance;
  readonly compiledOf: (
    check: HealthCheck,
    field: ExpressionField,
    source: string,
  ) => Compiled | undefined;
}

/** Undefined: not yet. */
function evaluate(
  check: HealthCheck,
  { kind, object, allowance, compiledOf }: Evaluation,
): ObjectStatus | undefined {
  const { observedGeneration } = fieldsOf(Reflect.get(object, "status"));
  const { generation } = object.metadata;
  if (typeof observedGeneration === "number" && observedGeneration !== (generation ?? 0))
    return inProgress("its controller has not observed the latest change yet");
  const { group, version } = kind;
  // Items of a list do not have these two.
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const variables = { apiVersion, kind: kind.kind, ...object };
  for (const field of expressions) {
    const source = check[field];
    if (source === undefined) continue;
    const compiled = compiledOf(check, field, source);
    if (compiled === undefined) return undefined;
    if (compiled.kind === "invalid")
      return inProgress(`the health check ${field} is not a valid CEL expression: ${compiled.why}`);
    const evaluated = compiled.expression.evaluate(variables, allowance);
    if (evaluated.kind === "deferred") return undefined;
    // What it needs may be missing yet.
    if (evaluated.kind === "failed")
      return inProgress(`the health check ${field} cannot be evaluated: ${evaluated.why}`);
    if (evaluated.value) return statusBy(field);
  }
  return inProgress("by its health check: current is not true");
}

function statusBy(field: ExpressionField): ObjectStatus {
  if (field === "current") return current;
  const message = `by its health check: ${field} is true`;
  return field === "failed" ? { kind: "failed", message } : inProgress(message);
}
