/** A spec of one of Flux's kinds that Flux accepts or rejects: fields that are set in the least spec of the kind, or removed. */

export interface FluxCase {
  readonly kind: string;
  readonly what: string;
  /** Set in the least spec; undefined removes a field. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Absent: it is accepted. */
  readonly rejected?: RegExp;
}

type Row = readonly [what: string, fields: Readonly<Record<string, unknown>>, rejected?: RegExp];

/** The cases of one kind. */
export function cases(kind: string, rows: readonly Row[]): readonly FluxCase[] {
  return rows.map(([what, fields, rejected]) => ({
    kind,
    what,
    fields,
    ...(rejected !== undefined && { rejected }),
  }));
}

export const ref = { name: "some" };

export function long(length: number): string {
  return "x".repeat(length);
}
