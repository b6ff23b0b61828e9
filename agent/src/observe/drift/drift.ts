/** Drift of a release: what others have changed in its objects. */

/** An object, as the manifest of its release names it, with its namespace. */
export interface DriftObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** A field that is not as desired. */
export interface ChangedField {
  /** A JSON pointer. */
  readonly pointer: string;
  /** Who set it last, and when (RFC 3339); absent: nobody has it, for example because it was removed. */
  readonly manager?: string | undefined;
  readonly time?: string | undefined;
}

/** One object that is not as desired. */
export interface ObjectDrift {
  readonly object: DriftObject;
  /** `rejected`: it has changes that the API server does not let be changed back. */
  readonly what: "missing" | "changed" | "rejected";
  readonly fields: readonly ChangedField[];
  /** The first operations of the JSON patch that reverts the changes, with every text masked. */
  readonly patch?: string | undefined;
  /** The message of the API server, if it rejects the desired object. */
  readonly message?: string | undefined;
}

/** A field that others have added. It is never changed. */
export interface ForeignField extends ChangedField {
  readonly object: DriftObject;
  readonly manager: string;
}

/** The result of one comparison of an object. */
export interface ObjectComparison {
  /** Undefined: it is as desired. */
  readonly drift?: ObjectDrift | undefined;
  readonly foreign: readonly ForeignField[];
}

/** `Foreign`: fields of others, which are kept. */
export type DriftResult = "Detected" | "Corrected" | "CorrectionFailed" | "BackedOff" | "Foreign";

/** An entry of the history. */
export interface DriftEvent {
  /** When it was detected, ms since 1970. */
  readonly atMs: number;
  readonly object: DriftObject;
  /** JSON pointers; none: the object was missing, or cannot be changed back. */
  readonly fields: readonly string[];
  readonly manager?: string | undefined;
  readonly result: DriftResult;
}

export function objectKey({ apiVersion, kind, namespace = "", name }: DriftObject): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
